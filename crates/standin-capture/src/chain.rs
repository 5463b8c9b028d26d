//! Walks along chains of structs, and slices from pointers and counts.

use crate::CaptureError;
use ash::vk;
use std::ffi::c_void;
use std::marker::PhantomData;

/// Structs that say nothing about what is made: feedback that a driver writes, names and caches
/// for debugging, data of earlier captures and builds.
pub const IGNORED: &[vk::StructureType] = &[
    vk::StructureType::PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
    vk::StructureType::RENDER_PASS_CREATION_FEEDBACK_CREATE_INFO_EXT,
    vk::StructureType::RENDER_PASS_SUBPASS_FEEDBACK_CREATE_INFO_EXT,
    vk::StructureType::SHADER_MODULE_VALIDATION_CACHE_CREATE_INFO_EXT,
    vk::StructureType::DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
    vk::StructureType::DEBUG_UTILS_OBJECT_TAG_INFO_EXT,
    vk::StructureType::VALIDATION_FEATURES_EXT,
    vk::StructureType::OPAQUE_CAPTURE_DESCRIPTOR_DATA_CREATE_INFO_EXT,
    // VK_STRUCTURE_TYPE_PIPELINE_BINARY_INFO_KHR
    vk::StructureType::from_raw(1_000_483_002),
];

/// A struct in a chain, of the type that its sType says.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a> {
    base: *const vk::BaseInStructure<'a>,
    s_type: vk::StructureType,
    chain: PhantomData<&'a c_void>,
}

impl<'a> Element<'a> {
    /// The struct, if it is of this type.
    pub(crate) fn get<T: vk::TaggedStructure>(self) -> Option<&'a T> {
        // SAFETY: an element is made by `walk` alone, whose caller vouches that each struct of
        // the chain is what its sType says; the trait ties T to its sType.
        (self.s_type == T::STRUCTURE_TYPE).then(|| unsafe { &*self.base.cast::<T>() })
    }

    /// The struct, if it is of this type.
    ///
    /// # Safety
    /// `T` is the struct that `s_type` stands for.
    pub(crate) unsafe fn get_as<T>(self, s_type: vk::StructureType) -> Option<&'a T> {
        // SAFETY: as in `get`; the caller ties T to the sType.
        (self.s_type == s_type).then(|| unsafe { &*self.base.cast::<T>() })
    }
}

/// Shows each struct of a chain to `take`, which says whether it knows it.
///
/// # Safety
/// `next` is null or the head of a chain of valid structs, each of the type that its sType says.
pub(crate) unsafe fn walk<'a>(
    next: *const c_void,
    place: &'static str,
    mut take: impl FnMut(Element<'a>) -> Result<bool, CaptureError>,
) -> Result<(), CaptureError> {
    let mut base = next.cast::<vk::BaseInStructure<'a>>();
    let mut seen: Vec<vk::StructureType> = Vec::new();
    while !base.is_null() {
        // SAFETY: not null, and so a valid struct of the chain, which begins like all others.
        let (s_type, following) = unsafe { ((*base).s_type, (*base).p_next) };
        if seen.contains(&s_type) {
            return Err(CaptureError::RepeatedStruct { s_type, place });
        }
        seen.push(s_type);
        let element = Element {
            base,
            s_type,
            chain: PhantomData,
        };
        if !IGNORED.contains(&s_type) && !take(element)? {
            return Err(CaptureError::UnknownStruct { s_type, place });
        }
        base = following;
    }
    Ok(())
}

/// Refuses every struct of a chain that is not ignored.
///
/// # Safety
/// As for [`walk`].
pub(crate) unsafe fn expect_nothing(
    next: *const c_void,
    place: &'static str,
) -> Result<(), CaptureError> {
    // SAFETY: passed on.
    unsafe { walk(next, place, |_| Ok(false)) }
}

/// `count` values at `first`.
///
/// # Safety
/// `first` is null or points to `count` values that are valid for `'a`.
pub(crate) unsafe fn slice<'a, T>(
    first: *const T,
    count: u32,
    place: &'static str,
) -> Result<&'a [T], CaptureError> {
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() {
        return Err(CaptureError::Null { place });
    }
    let length = usize::try_from(count).map_err(|_| CaptureError::Null { place })?;
    // SAFETY: not null, and so `count` valid values.
    Ok(unsafe { std::slice::from_raw_parts(first, length) })
}

/// Refuses flags that no Vulkan known here defines.
pub(crate) fn no_flags(flags: u32, place: &'static str) -> Result<(), CaptureError> {
    if flags == 0 {
        Ok(())
    } else {
        Err(CaptureError::ReservedFlags { place, flags })
    }
}

/// The recipe of an object, or an error that names it.
pub(crate) fn known<H: vk::Handle + Copy, T>(
    handle: H,
    find: impl FnOnce(H) -> Option<T>,
    kind: &'static str,
    place: &'static str,
) -> Result<T, CaptureError> {
    find(handle).ok_or_else(|| CaptureError::UnknownObject {
        place,
        kind,
        handle: handle.as_raw(),
    })
}
