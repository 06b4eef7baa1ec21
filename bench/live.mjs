// A further turn of a conversation whose claude is up, beside what the model itself takes.
import { atRest, inTurns } from "./measure.mjs";
import { startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";

export async function liveTurn() {
  const stage = await rehearsedFleet();
  const fleet = await startFleet(stage);
  let resume;
  try {
    const times = await inTurns(15, {
      ours: atRest(async () => {
        const began = performance.now();
        const { session_id } = await turnOf(fleet.control, resume);
        resume = session_id;
        return performance.now() - began;
      }),
      bare: atRest(() => askModel(stage.env)),
    });
    const what = "a turn in a live conversation";
    return { what, beside: "the model's own time", ...times, bound: { more: 60 } };
  } finally {
    await fleet.stop();
    await stage.dispose();
  }
}

async function turnOf(control, resume) {
  const request = { trigger: "manual", agent: "hello", prompt: "hello", live: true, resume };
  const { job } = await control.trigger(request);
  const ended = await control.wait(job.id);
  if (ended.status !== "completed") throw new Error(`the job ended as ${ended.status}`);
  return ended;
}

async function askModel({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key }) {
  const began = performance.now();
  const messages = [{ role: "user", content: "hello" }];
  const answer = await fetch(`${url}/v1/messages?beta=true`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 100, stream: true, messages }),
  });
  await answer.text();
  return performance.now() - began;
}
