/** What the checks found last, for whoever shows it away from their page. */
class Problems {
  count = $state(0);
}

export const problems = new Problems();
