//! Back to what the driver takes: create-infos made from recipes.
//!
//! Each type here owns the Vulkan structs that its create-info points to, at addresses that do
//! not change when it is moved, and lends the create-info. A struct is chained only if it says
//! something that its absence does not, so that a device is not asked for an extension without
//! need. Structs that were chained only to be ignored do not come back.

mod graphics;
mod layout;
mod render_pass;
mod states;

pub use graphics::{ComputeCreateInfo, GraphicsCreateInfo, GraphicsHandles};
pub use layout::{
    PipelineLayoutCreateInfo, SamplerCreateInfo, SetLayoutCreateInfo, module_create_info,
    ycbcr_create_info,
};
pub use render_pass::RenderPassCreateInfo;
pub use states::DepthClampControlCreateInfo;

use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::rc::Rc;

/// Keeps values at fixed addresses. Not `Box`, whose content counts as moved with it.
#[derive(Default)]
pub(crate) struct Arena(Vec<Rc<dyn Any>>);

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arena({} values)", self.0.len())
    }
}

impl Arena {
    /// Keeps the value and says where it is.
    pub(crate) fn keep<T: 'static>(&mut self, value: T) -> *const T {
        let value = Rc::new(value);
        let address = Rc::as_ptr(&value);
        self.0.push(value);
        address
    }

    /// Keeps the values and says where the first is; null if there are none.
    pub(crate) fn keep_all<T: 'static>(&mut self, values: Vec<T>) -> *const T {
        if values.is_empty() {
            return ptr::null();
        }
        let values = Rc::new(values);
        let address = values.as_ptr();
        self.0.push(values);
        address
    }

    /// Keeps the values, if there are any to keep.
    pub(crate) fn keep_option<T: 'static>(&mut self, value: Option<T>) -> *const T {
        value.map_or(ptr::null(), |value| self.keep(value))
    }
}

/// Prepends a struct to a chain: `chain!(arena, head, vk::X { .. })`.
macro_rules! chain {
    ($arena:expr, $head:expr, $value:expr) => {{
        let mut value = $value;
        // Some bindings have a mutable pointer here, though nothing is written through it.
        value.p_next = $head.cast_mut();
        $head = $arena.keep(value).cast();
    }};
}
pub(crate) use chain;

/// The start of a chain.
pub(crate) type Chain = *const c_void;

pub(crate) fn count<T>(values: &[T]) -> u32 {
    u32::try_from(values.len()).unwrap_or(u32::MAX)
}
