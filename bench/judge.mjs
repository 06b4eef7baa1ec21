import { quantile } from "./measure.mjs";

/** What is kept of a row: a few figures, the bound, and whether it is held. */
export function judged({ what, beside, unit = "ms", ours, bare, bound, growth }) {
  const figures = (values) => ({ value: at(values, 0.5), p95: at(values, 0.95) });
  const [own, other] = [figures(ours), figures(bare)];
  const ratio = own.value / other.value;
  return {
    what,
    unit,
    ...own,
    samples: ours.length,
    ...(bare.length > 0 && { beside: { what: beside, ...other } }),
    ...(Number.isFinite(ratio) && { ratio: rounded(ratio) }),
    ...(bound && verdict(bound, ours, bare, unit)),
    ...(growth && { growth }),
  };
}

/** A bound is on a share of the samples, on the ratio to the bare thing, or on what comes on top of it. */
function verdict(bound, ours, bare, unit) {
  const [[kind, limit]] = Object.entries(bound);
  const [median, other] = [ours, bare].map((values) => quantile(values, 0.5));
  const amount = `${limit.toLocaleString("en")} ${unit}`;
  const { value, text, isHeld } = {
    ratio: { value: median / other, text: `ratio < ${limit}×` },
    median: { value: median, text: `median < ${amount}` },
    p95: { value: quantile(ours, 0.95), text: `p95 < ${amount}` },
    p99: { value: quantile(ours, 0.99), text: `p99 < ${amount}` },
    more: { value: median - other, text: `more < ${amount}` },
    least: { value: median, text: `median > ${amount}`, isHeld: median > limit },
  }[kind];
  return { bound: text, found: rounded(value), held: isHeld ?? value < limit };
}

const at = (values, share) => (values.length > 0 ? rounded(quantile(values, share)) : null);

/** Four digits say more than any of these measurements can. */
const rounded = (value) => Number(value.toPrecision(4));
