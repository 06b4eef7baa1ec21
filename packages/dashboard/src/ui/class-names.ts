/** Those of the given classes that are there, in one string. */
export function classNames(...given: (string | false | undefined)[]): string {
  return given.filter(Boolean).join(" ");
}
