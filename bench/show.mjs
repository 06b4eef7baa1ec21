/** A figure with its unit, as people read it. */
export function amount(value, unit) {
  if (value === null || value === undefined) return "";
  const digits = Math.abs(value) < 10 ? 1 : 0;
  const text = value.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${text} ${unit}`;
}

export const times = (ratio) => (ratio === undefined ? "" : `${ratio.toFixed(2)}×`);

export const verdictOf = ({ held }) => (held === undefined ? "" : held ? "held" : "missed");
