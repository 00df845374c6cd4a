import { sizes } from "../../scripts/budget.mjs";
import { seriousFindings } from "./axe";
import { filterTime } from "./filter";
import { heapGrowth } from "./heap";
import { firstPaint } from "./paint";

/** A figure, and how many samples it is made from. */
export interface Figure {
  value: number;
  samples: number;
}

/** Prints every figure as soon as it is known. */
export async function measure(quick: boolean): Promise<void> {
  const tell = (name: string, unit: string, { value, samples }: Figure) =>
    console.log(JSON.stringify({ name, value, unit, samples }));
  const { first, styles } = sizes();
  tell("js_first_paint_gzip_kb", "kB", { value: first, samples: 1 });
  tell("css_gzip_kb", "kB", { value: styles, samples: 1 });
  tell("first_contentful_paint_webkit_ms", "ms", await firstPaint(quick ? 5 : 30));
  tell("filter_10000_rows_ms", "ms", await filterTime(quick ? 5 : 30));
  tell("axe_serious_or_critical", "", await seriousFindings());
  tell("run_view_heap_growth_mb", "MB", await heapGrowth(quick ? 2 : 10));
}

/** The middle one. */
export function median(samples: readonly number[]): Figure {
  const sorted = [...samples].sort((one, other) => one - other);
  return { value: sorted[Math.ceil(sorted.length / 2) - 1] ?? 0, samples: sorted.length };
}
