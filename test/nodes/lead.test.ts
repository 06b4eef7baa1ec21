import { expect, it, onTestFinished } from "vitest";
import { Lead } from "../../packages/core/src/fleet/nodes/lead.ts";
import { until } from "../support/fleet-program.ts";

it("however fast the lead changes, desks are opened and closed in turn, and end as they should", async () => {
  const { lead, seen } = made();
  await Promise.all([true, false, true, true, false, true].map((isLead) => lead.set(isLead)));
  expect(seen.at(-1)).toBe("open");
  for (const [index, word] of seen.entries()) expect(word).toBe(index % 2 === 0 ? "open" : "close");
});

it("desks that could not be opened are opened later, if they are still to be", async () => {
  const { lead, seen } = made(1);
  await lead.set(true);
  expect(seen).toEqual(["failed", "close"]);
  await until("them to be opened", async () => seen.includes("open"));
});

it("once stopped nothing is opened or closed any more", async () => {
  const { lead, seen } = made();
  await lead.set(true);
  await lead.stop();
  await lead.set(false);
  expect(seen).toEqual(["open"]);
});

function made(failures = 0) {
  const seen: string[] = [];
  let toFail = failures;
  const open = async () => {
    await new Promise((done) => setTimeout(done, 5));
    if (toFail > 0) {
      toFail -= 1;
      seen.push("failed");
      throw new Error("not now");
    }
    seen.push("open");
  };
  const close = async () => void seen.push("close");
  const lead = new Lead({ open, close, look: () => undefined }, () => undefined);
  onTestFinished(() => lead.stop());
  return { lead, seen };
}
