import type { Film } from "./film.mjs";

export function movingPicture(
  film: Film,
  options: { title: string; columns: number; rows: number },
): string;
