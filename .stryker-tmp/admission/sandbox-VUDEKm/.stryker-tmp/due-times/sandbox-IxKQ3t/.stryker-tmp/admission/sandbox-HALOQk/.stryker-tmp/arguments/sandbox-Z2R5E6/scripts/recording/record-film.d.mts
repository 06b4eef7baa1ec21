interface Run {
  text: string;
  look: string;
  from: number;
  to: number;
}
interface Size {
  columns: number;
  rows: number;
}
export interface Film {
  rows: { from: number; until: number; runs: Run[] }[][];
  scrolls: { at: number; by: number }[];
  length: number;
}
export function recordFilm(
  typed: string,
  chunks: { at: number; text: string }[],
  size: Size,
): Promise<Film>;
