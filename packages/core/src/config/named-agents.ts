/** Whether a list such as `[reviewer, docs-*]` names an agent. `*` stands for any part of a name. */
export function namesAgent(list: readonly string[], name: string): boolean {
  return list.some((one) => one === name || patternOf(one).test(name));
}

function patternOf(text: string): RegExp {
  const parts = text.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}
