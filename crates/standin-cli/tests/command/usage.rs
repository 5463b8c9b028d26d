//! What the command says to a line it cannot use.

use crate::standin::Folder;
