import { quantile } from "./measure.mjs";

/** The recorded values of a measured row: median, p95, ratio, bound and verdict. */
export function judge({ name, unit = "ms", values, baseline, bound }) {
  const ratio = median(values) / median(baseline.values);
  return {
    name,
    unit,
    ...figures(values),
    samples: values.length,
    baseline: { name: baseline.name, ...figures(baseline.values) },
    ...(Number.isFinite(ratio) && { ratio: rounded(ratio) }),
    ...verdict(bound, { unit, values, ratio, baseline: baseline.values }),
  };
}

function verdict(bound, { unit, values, ratio, baseline }) {
  const [[kind, limit]] = Object.entries(bound);
  const amount = `${limit.toLocaleString("en")} ${unit}`;
  const {
    measured,
    text,
    held = measured < limit,
  } = {
    ratio: { measured: ratio, text: `ratio < ${limit}×` },
    median: { measured: median(values), text: `median < ${amount}` },
    p95: { measured: quantile(values, 0.95), text: `p95 < ${amount}` },
    added: { measured: median(values) - median(baseline), text: `added < ${amount}` },
    min: { measured: median(values), text: `median > ${amount}`, held: median(values) > limit },
  }[kind];
  return { bound: text, measured: rounded(measured), held };
}

const figures = (values) => ({
  median: rounded(median(values)),
  p95: rounded(quantile(values, 0.95)),
});

const median = (values) => quantile(values, 0.5);

/** Four significant digits: the measurements are not more precise. */
const rounded = (value) => Number(value.toPrecision(4));
