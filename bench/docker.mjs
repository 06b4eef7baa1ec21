// One job in a container, beside the same job on the host, all through a fleet in this process.
import { dockerStage } from "./docker-stage.mjs";
import { inTurns } from "./measure.mjs";

const rounds = 10;

export async function dockerTurn() {
  const { job, stop } = await dockerStage();
  try {
    const times = await inTurns(rounds, {
      bare: job("host"),
      cold: job("contained"),
      warm: job("spare"),
      ahead: job("ahead"),
    });
    const host = { beside: "the same job on the host", bare: times.bare };
    return [
      { what: "job in a container", ours: times.cold, ...host, bound: { more: 350 } },
      { what: "job in a spare container", ours: times.warm, ...host, bound: { more: 60 } },
      {
        what: "job in a container, `warm: 1`",
        ours: times.ahead,
        beside: "the same job without `warm`",
        bare: times.cold,
        bound: { ratio: 0.7 },
      },
    ];
  } finally {
    await stop();
  }
}
