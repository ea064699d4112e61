// The interval in view and the selected cause. The address holds both, so that the view can be shared. Views
// of time subscribe to changes.

export interface Range {
  from: number; // ns from the start of the window
  to: number;
  cause: string | null;
}

type Listener = (range: Range) => void;

export class RangeChoice {
  private readonly listeners: Listener[] = [];
  private current: Range;

  constructor(
    readonly window: number,
    private readonly followsAddress: boolean,
  ) {
    this.current = this.fromAddress() ?? { from: 0, to: window, cause: null };
    if (followsAddress) {
      window > 0 &&
        globalThis.addEventListener("hashchange", () => {
          const asked = this.fromAddress();
          if (asked) this.apply(asked);
        });
    }
  }

  get(): Range {
    return this.current;
  }
  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  // Keeps the interval inside the window and at least `least` long.
  show(from: number, to: number, least = 2000): void {
    const length = Math.min(Math.max(to - from, Math.min(least, this.window)), this.window);
    const middle = (from + to) / 2;
    const begin = Math.min(Math.max(middle - length / 2, 0), this.window - length);
    this.apply({ ...this.current, from: begin, to: begin + length });
    this.writeAddress();
  }
  choose(cause: string | null): void {
    this.apply({ ...this.current, cause });
    this.writeAddress();
  }

  private apply(range: Range): void {
    this.current = range;
    for (const listener of this.listeners) listener(range);
  }

  // "#t=A-B&cause=input"
  private fromAddress(): Range | null {
    if (!this.followsAddress) return null;
    const found = /^#t=(\d+)-(\d+)(?:&cause=([a-z_]+))?$/.exec(location.hash);
    if (!found) return null;
    const from = Math.min(Number(found[1]), this.window);
    const to = Math.min(Number(found[2]), this.window);
    return to > from ? { from, to, cause: found[3] ?? null } : null;
  }
  private writeAddress(): void {
    if (!this.followsAddress) return;
    const { from, to, cause } = this.current;
    const whole = from <= 0 && to >= this.window;
    const address =
      whole && !cause ? " " : addressOf(from, to, cause);
    try {
      history.replaceState(null, "", whole && !cause ? location.pathname + location.search : address);
    } catch {
      // Some browsers refuse this on pages from disk; the address then stays as it is.
    }
  }
}

export function addressOf(from: number, to: number, cause: string | null): string {
  return `#t=${Math.round(from)}-${Math.round(to)}${cause ? `&cause=${cause}` : ""}`;
}
