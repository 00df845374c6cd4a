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
            output::json(check);
            continue;
        }
        let key = match check.health {
            Health::Ok => "doctor.ok",
            Health::Warning => "doctor.warning",
            Health::Problem => "doctor.problem",
            Health::Off => "doctor.off",
        };
        let mark = match check.health {
            Health::Ok => '✓',
            Health::Warning => '!',
            Health::Problem => '✗',
            Health::Off => '–',
        };
        output::line(&format!(
            "{mark} {:<16} {}: {}",
            check.id,
            app.catalogue.render(key, &[]),
            check.found
        ));
        if let Some(fix) = &check.fix {
            output::line(&format!("  {:<16} → {fix}", ""));
        }
    }
    let problem = checks.iter().any(|check| check.health == Health::Problem);
    Ok(if problem { Exit::Failed } else { Exit::Done })
}
