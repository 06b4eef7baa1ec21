/** Joins the given class names and skips `false` and `undefined`. */
export function classNames(...classes: (string | false | undefined)[]): string {
  return classes.filter(Boolean).join(" ");
}
