//! Why an action on the screen did not happen. All texts are read by the model.

use openspace_grounding::ToolError;

use crate::{InputError, ScreenError, geometry::PointError, key::KeyError};

/// A failed look or action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuiError {
    /// The arguments do not fit.
    #[error("{0}")]
    Arguments(String),
    /// The position does not lie on the picture or is not written as one.
    #[error(transparent)]
    Point(#[from] PointError),
    /// There is no such key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The world is no longer as the model saw it; a fresh frame goes with this error.
    #[error("{0}")]
    Stale(String),
    /// Nobody may act there, whatever the policy says.
    #[error("off limits: {0}")]
    OffLimits(String),
    /// The screen cannot be seen.
    #[error(transparent)]
    Screen(#[from] ScreenError),
    /// The input did not happen.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The picture could not be made.
    #[error("the picture could not be encoded: {0}")]
    Encode(String),
    /// What the call refers to is not there.
    #[error("{0}")]
    NotFound(String),
    /// The call began, and what it met on the way kept it from finishing.
    #[error("{0}")]
    Interrupted(String),
    /// The run stops; everything was released.
    #[error("cancelled")]
    Cancelled,
}

impl From<GuiError> for ToolError {
    fn from(error: GuiError) -> Self {
        let text = error.to_string();
        match error {
            GuiError::Arguments(_) | GuiError::Point(_) | GuiError::Key(_) => {
                Self::InvalidArguments(text)
            }
            GuiError::Stale(_) => Self::Stale(text),
            GuiError::NotFound(_) => Self::NotFound(text),
            GuiError::OffLimits(reason) => Self::Denied(openspace_grounding::Denied { reason }),
            GuiError::Screen(_) => Self::Unavailable(text),
            GuiError::Input(InputError::Halted) | GuiError::Cancelled => Self::Cancelled,
            GuiError::Input(InputError::NotPermitted(_) | InputError::Lost(_)) => {
                Self::Unavailable(text)
            }
            GuiError::Input(_) | GuiError::Encode(_) | GuiError::Interrupted(_) => {
                Self::Failed(text)
            }
        }
    }
}
