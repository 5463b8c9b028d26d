//! The identities. Each is 128 bits wide, and each is a type of its own, so that the
//! compiler keeps a family's key from ever being used to find an exact pipeline.

macro_rules! key {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// The key with this value. The value is a hash: its bits are evenly spread.
            #[must_use]
            pub const fn from_u128(value: u128) -> Self {
                Self(value)
            }

            /// The key's 128 bits.
            #[must_use]
            pub const fn to_u128(self) -> u128 {
                self.0
            }

            /// The key's bytes, least significant first: the form that is kept on disk.
            #[must_use]
            pub const fn to_le_bytes(self) -> [u8; 16] {
                self.0.to_le_bytes()
            }

            /// The key whose bytes are these, least significant first.
            #[must_use]
            pub const fn from_le_bytes(bytes: [u8; 16]) -> Self {
                Self(u128::from_le_bytes(bytes))
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({:032x})"), self.0)
            }
        }

        /// 32 lower-case hexadecimal digits.
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{:032x}", self.0)
            }
        }
    };
}

key! {
    /// Identity of the recipe whose optimised pipeline should finally run
    /// (the "desired specialisation").
    ExactKey
}
key! {
    /// Identity of a recipe without the fields that one family absorbs. The family itself
    /// is part of the key: keys of two families are never equal.
    FamilyKey
}
key! {
    /// Identity of one complete pipeline as it is handed to the driver: what an archive's
    /// blobs are kept under. An exact pipeline and a stand-in made of the same recipe
    /// have different executable keys.
    ExecutableKey
}
