//! Identities of recipes: xxh3-128 over canonical bytes of normal forms.

use crate::bytes::encode_body;
use crate::family::Family;
use crate::pipeline::Recipe;
use standin::key::{ExactKey, ExecutableKey, FamilyKey};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

impl Recipe {
    /// The exact key: equal for recipes whose normal forms are equal.
    #[must_use]
    pub fn exact_key(&self) -> ExactKey {
        let bytes = encode_body(&self.normalised(), &mut |_| {});
        ExactKey::from_u128(xxh3_128(&bytes))
    }

    /// The family key: equal for recipes that differ only in fields that the family absorbs.
    #[must_use]
    pub fn family_key(&self, family: &Family) -> FamilyKey {
        let bytes = encode_body(&family.absorb(self), &mut |_| {});
        let mut hash = Xxh3::new();
        hash.update(&family.to_bytes());
        hash.update(&bytes);
        FamilyKey::from_u128(hash.digest128())
    }
}

/// The key of the exact pipeline as it is handed to the driver.
#[must_use]
pub fn exact_executable_key(key: ExactKey) -> ExecutableKey {
    executable_key(*b"exact...", key.to_le_bytes())
}

/// The key of a family's pipeline as it is handed to the driver.
#[must_use]
pub fn family_executable_key(key: FamilyKey) -> ExecutableKey {
    executable_key(*b"family..", key.to_le_bytes())
}

fn executable_key(kind: [u8; 8], key: [u8; 16]) -> ExecutableKey {
    let mut bytes = [0; 24];
    bytes[..8].copy_from_slice(&kind);
    bytes[8..].copy_from_slice(&key);
    ExecutableKey::from_u128(xxh3_128(&bytes))
}
