//! The port that provides the redactor of a project.

use std::error::Error;
use std::sync::Arc;

use super::redactor::Redactor;
use crate::BoxFuture;
use crate::scope::ProjectId;

/// Provides the redactor of a project.
pub trait Redactions: Send + Sync {
    /// The redactor of `project`. `revision` changes whenever any process changes secrets: an implementation may cache the
    /// secrets it read at this revision.
    fn redactor<'a>(
        &'a self,
        project: &'a ProjectId,
        revision: i64,
    ) -> BoxFuture<'a, Result<Arc<Redactor>, RedactionError>>;
}

/// The secrets could not be read, so no text can be shown. The source is for the operator, never for a model.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the secrets of project `{project}` could not be read")]
pub struct RedactionError {
    project: ProjectId,
    #[source]
    source: Arc<dyn Error + Send + Sync>,
}

impl RedactionError {
    /// Why the secrets of `project` could not be read.
    #[must_use]
    pub fn new(project: ProjectId, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { project, source: Arc::from(source.into()) }
    }
}

/// The same redactor for every project. The default hides formats only.
#[derive(Debug, Clone, Default)]
pub struct Fixed(Arc<Redactor>);

impl Fixed {
    /// Always `redactor`.
    #[must_use]
    pub fn new(redactor: impl Into<Arc<Redactor>>) -> Self {
        Self(redactor.into())
    }
}

impl Redactions for Fixed {
    fn redactor<'a>(
        &'a self,
        _project: &'a ProjectId,
        _revision: i64,
    ) -> BoxFuture<'a, Result<Arc<Redactor>, RedactionError>> {
        Box::pin(std::future::ready(Ok(Arc::clone(&self.0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_fixed_redactor_is_the_same_everywhere() {
        let redactor = Arc::new(Redactor::default());
        let fixed: Arc<dyn Redactions> = Arc::new(Fixed::new(Arc::clone(&redactor)));
        for (project, revision) in [("local", 0), ("other", 7)] {
            let given = fixed.redactor(&ProjectId::new(project), revision).await.unwrap();
            assert!(Arc::ptr_eq(&given, &redactor));
        }
    }

    #[test]
    fn an_error_names_the_project_and_keeps_its_cause() {
        let error = RedactionError::new(ProjectId::default(), "the key file is gone");
        assert_eq!(error.to_string(), "the secrets of project `local` could not be read");
        assert_eq!(error.source().unwrap().to_string(), "the key file is gone");
    }
}
