/** One place in one file of the product, as it is and as it is without the defence. */
export interface Edit {
  file: string;
  from: string;
  to: string;
}

/** Fails where the place is not there, or not the only one: then the table is out of date. */
export function edited(text: string, { file, from, to }: Edit): string {
  const found = text.split(from).length - 1;
  if (found === 1) return text.replace(from, () => to);
  throw new Error(`${file} has ${found} places like this, and should have one:\n${from}`);
}
