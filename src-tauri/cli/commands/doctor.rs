//! `openspace doctor`

use openspace_app::{Environment, Failure, Health};

use crate::{args::DoctorArgs, exit::Exit, output};

pub(crate) async fn doctor(
    arguments: DoctorArgs,
    environment: Environment,
) -> Result<Exit, Failure> {
    let app = super::open(environment, false, &[])?;
    let checks = app.doctor(arguments.model).await;
    for check in &checks {
        if arguments.json {
            output::json(&check.json(&app.catalogue));
            continue;
        }
        let mark = match check.health {
            Health::Ok => '✓',
            Health::Warning => '!',
            Health::Problem => '✗',
            Health::Off => '–',
        };
        let health = app
            .catalogue
            .render(&format!("doctor.{}", check.health.id()), &[]);
        let words = check.words(&app.catalogue);
        output::line(&format!("{mark} {:<16} {health}: {words}", check.id));
        if let Some(detail) = &check.detail {
            output::line(&format!("  {:<16} {detail}", ""));
        }
        if let Some(fix) = &check.fix {
            output::line(&format!("  {:<16} → {}", "", fix.render(&app.catalogue)));
        }
    }
    let problem = checks.iter().any(|check| check.health == Health::Problem);
    Ok(if problem { Exit::Failed } else { Exit::Done })
}
