import type { Film } from "./record-film.mjs";

export function renderAnimatedSvg(
  film: Film,
  options: { title: string; columns: number; rows: number },
): string;
