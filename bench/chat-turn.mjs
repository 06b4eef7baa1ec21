// A further turn of a chat whose `claude` is still running, compared with the model alone.

import { withFleet } from "./bench-fleet.mjs";
import { alternate, rested, timeOf } from "./measure.mjs";

export function chatTurn() {
  return withFleet({}, async ({ control, env }) => {
    let resume;
    const { turn, model } = await alternate(15, {
      turn: rested(() =>
        timeOf(async () => {
          resume = await runTurn(control, resume);
        }),
      ),
      model: rested(() => timeOf(() => askModel(env))),
    });
    return {
      name: "further chat turn",
      values: turn,
      baseline: { name: "the model alone", values: model },
      bound: { added: 80 },
    };
  });
}

/** Returns the session for the next turn. */
async function runTurn(control, resume) {
  const request = { agent: "hello", prompt: "hello", conversation: true, resume };
  const { job } = await control.jobs.trigger(request);
  const { status, session_id } = await control.jobs.wait(job.id);
  if (status !== "completed") throw new Error(`the job ended as ${status}`);
  return session_id;
}

async function askModel({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key }) {
  const messages = [{ role: "user", content: "hello" }];
  const response = await fetch(`${url}/v1/messages?beta=true`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 100, stream: true, messages }),
  });
  await response.text();
}
