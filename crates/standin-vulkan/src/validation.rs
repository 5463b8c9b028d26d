//! What the validation layer says, collected where a program can read it.

use ash::vk;
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How severe the layer holds a message to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Legal, and probably not meant.
    Warning,
    /// A breach of the specification.
    Error,
}

/// One message of the validation layer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Message {
    /// How severe it is.
    pub severity: Severity,
    /// The rule's name, such as `VUID-vkCmdDraw-None-08600`. Empty if the layer gave none.
    pub id: String,
    /// The layer's text.
    pub text: String,
}

impl std::fmt::Display for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity} {}: {}", self.id, self.text)
    }
}

/// A message that the layer gives for valid use. Which text is meant is told by a part of it,
/// because one rule can be right in one place and wrong in another.
#[derive(Debug, Clone, Copy)]
pub struct FalsePositive {
    /// The rule's name.
    pub id: &'static str,
    /// A part of the text. Empty for any text.
    pub contains: &'static str,
    /// Why the message is wrong.
    pub reason: &'static str,
}

/// The messages of one instance. Readable from any thread.
#[derive(Debug, Default)]
pub struct Messages {
    list: Mutex<Vec<Message>>,
    allowed: &'static [FalsePositive],
}

impl Messages {
    pub(crate) fn new(allowed: &'static [FalsePositive]) -> Self {
        Self {
            list: Mutex::default(),
            allowed,
        }
    }

    /// Takes what was said since the last call, known false positives left out.
    pub fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Message>> {
        // A list of messages is whole after any panic between two pushes.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, message: Message) {
        let known = self
            .allowed
            .iter()
            .any(|allowed| allowed.id == message.id && message.text.contains(allowed.contains));
        if !known {
            self.lock().push(message);
        }
    }

    /// The create-info of a messenger that writes into `self`, which must outlive it.
    pub(crate) fn create_info(&self) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(
                vk::DebugUtilsMessageSeverityFlagsEXT::WARNING
                    | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
            )
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(collect))
            .user_data(std::ptr::from_ref(self).cast_mut().cast())
    }
}

/// # Safety
/// `user` is the `Messages` that `create_info` was called on, and alive; `data` is what the
/// specification promises to a messenger.
unsafe extern "system" fn collect(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    let text = |text: *const std::ffi::c_char| {
        if text.is_null() {
            String::new()
        } else {
            // SAFETY: a string of the callback data is null or terminated.
            unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned()
        }
    };
    // SAFETY: both pointers are valid during the call, see above.
    let (messages, data) = unsafe { (user.cast::<Messages>().as_ref(), data.as_ref()) };
    if let (Some(messages), Some(data)) = (messages, data) {
        messages.push(Message {
            severity: if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
                Severity::Error
            } else {
                Severity::Warning
            },
            id: text(data.p_message_id_name),
            text: text(data.p_message),
        });
    }
    vk::FALSE
}
