/** The labels behind numbers as they are shown: `2`, or `1, 3`; undefined when one stands for nothing. */
export function labelsByNumber(
  choices: readonly { label: string }[],
  typed: string,
): string[] | undefined {
  const numbers = typed.split(",").map((one) => one.trim());
  const labels = numbers.flatMap((one) =>
    /^\d+$/.test(one) ? (choices[Number(one) - 1]?.label ?? []) : [],
  );
  return labels.length === numbers.length ? labels : undefined;
}
