// Creates past jobs for the screenshots, with a clock that is set back.
import { StateManager } from "@herdctl/core/internal";

const minute = 60_000;
const model = "claude-sonnet-4-5";
const outcomes = [
  ["success", "completed", "The agent finished."],
  ["max_turns", "failed", "The agent used all its turns."],
  ["finished_with_denials", "completed", "The agent finished; some tools were denied."],
];
/** By agent: minutes between runs, seconds per run, cost, and the outcome of every n-th run. */
const past = [
  { agent: "fixer", schedule: "issues", every: 30, takes: 320, costs: 0.21, odd: 9, how: 1 },
  { agent: "reviewer", schedule: null, every: 55, takes: 150, costs: 0.09, odd: 4, how: 2 },
  { agent: "reporter", schedule: "hourly", every: 60, takes: 45, costs: 0.03, odd: 50, how: 1 },
  { agent: "watcher", schedule: "logs", every: 15, takes: 80, costs: 0.02, odd: 7, how: 1 },
  { agent: "gardener", schedule: "nightly", every: 480, takes: 900, costs: 0.4, odd: 50, how: 1 },
];

export async function seed(stateDir, store, hours = 72) {
  const RealDate = Date;
  let now = RealDate.now();
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      if (given.length === 0) super(now);
      else super(...given);
    }
    static now = () => now;
  };
  const state = await new StateManager(stateDir).open({ store });
  try {
    for (const { at, ...run } of runs(RealDate.now(), hours)) {
      now = at;
      await record(state, run, (seconds) => {
        now = at + seconds * 1_000;
      });
    }
    now = RealDate.now();
    await state.schedules.recordSettled(ledger(now, hours * 4));
  } finally {
    await state.close();
    globalThis.Date = RealDate;
  }
}

function runs(end, hours) {
  return past
    .flatMap((one) =>
      Array.from({ length: Math.floor((hours * 60) / one.every) }, (_, index) => {
        // Irregular, but the same in every run of this script.
        const wobble = ((index * 7919) % 13) / 13;
        const at = end - (index + 1 + wobble / 3) * one.every * minute;
        const isOdd = index % one.odd === one.odd - 1;
        return {
          ...one,
          at,
          takes: one.takes * (0.5 + wobble),
          costs: one.costs * (0.6 + wobble),
          isOdd,
        };
      }),
    )
    .sort((one, other) => one.at - other.at);
}

async function record(state, { agent, schedule, takes, costs, isOdd, how }, pass) {
  const [code, status, message] = outcomes[isOdd ? how : 0];
  const trigger_type = schedule === null ? "manual" : "interval";
  const { job } = await state.jobs.create({
    agent,
    schedule,
    trigger_type,
    prompt: "Check for new work.",
    runtime: "sdk",
  });
  await state.jobs.startAttempt(job.id);
  pass(takes);
  const tokens = {
    input_tokens: 5_000,
    output_tokens: 700,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  const usage = { ...tokens, models: { [model]: { ...tokens, cost_usd: costs } } };
  const end = { outcome_code: code, session_id: null, cost_usd: costs, usage };
  const outcome = { code, message, hint: "Nothing to do." };
  await state.jobs.endAttempt(job.id, 1, end, {
    status,
    outcome,
    summary: message,
    cost_usd: costs,
  });
}

/** Due times of one schedule: most ran, some were skipped because of an overlap, a few were missed. */
function ledger(end, hours) {
  const name = { agent: "reporter", schedule: "hourly", count: 1 };
  return Array.from({ length: hours }, (_, index) => {
    const due_at = new Date(end - (hours - index) * 60 * minute).toISOString();
    const fate = fates[index % 41] ?? { result: "ran", reason: null };
    return { ...name, due_at, last_due_at: due_at, through: due_at, ...fate };
  });
}

const fates = {
  7: { result: "skipped", reason: "overlap" },
  30: { result: "missed", reason: "too_old" },
};
