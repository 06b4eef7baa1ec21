/** Whether a text is what a pattern says, in which `*` stands for any text. */
export function fitsPattern(pattern: string, text: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[\\s\\S]*")}$`).test(text);
}
