/** The time, once a second, and not at all while nobody sees it. */
class Clock {
  now = $state(Date.now());

  start(): () => void {
    const timer = setInterval(() => {
      if (!document.hidden) this.now = Date.now();
    }, 1_000);
    return () => clearInterval(timer);
  }
}

export const clock = new Clock();
