//! What somebody who mistyped a name probably meant.

/// The candidate closest to `typed`, if it is close enough to be a slip: a third of its letters, at
/// least two of them. Otherwise a candidate with the same last segment (`name` for `model.name`).
/// The first of equals wins.
pub(crate) fn nearest<'a>(
    typed: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let allowed = (typed.chars().count() / 3).max(2);
    let last = |name: &str| name.rsplit(['.']).next().unwrap_or_default().to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = distance(&typed, &candidate.to_lowercase());
        let rank = if distance <= allowed {
            distance
        } else if last(candidate) == last(&typed) {
            allowed + 1
        } else {
            continue;
        };
        if best.is_none_or(|(least, _)| rank < least) {
            best = Some((rank, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Optimal string alignment: insertions, deletions, replacements and swaps of neighbours count one.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slips are recognised, strangers are not.
    #[test]
    fn slips_have_a_nearest_name() {
        let names = ["model.name", "model.base_url", "gui.settle_ms", "display"];
        assert_eq!(nearest("model.nmae", names), Some("model.name"));
        assert_eq!(nearest("MODEL.NAME", names), Some("model.name"));
        assert_eq!(nearest("gui.settel_ms", names), Some("gui.settle_ms"));
        assert_eq!(nearest("settle_ms", names), Some("gui.settle_ms"));
        assert_eq!(nearest("dispaly", names), Some("display"));
        assert_eq!(nearest("kitchen.sink", names), None);
        assert_eq!(nearest("", names), None);
    }
}
