import { describe, expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { wideTest } from "../support/test-subset.ts";
import {
  type ChatHarness,
  chatHarnessFactory,
  type OpenChat,
  waitForQuiet,
} from "./chat-harness.ts";

const agent = "tools: [ask]";
const questionScript = (tool: string, input: Record<string, unknown>) => ({
  rules: [
    { match: { prompt: "/ask me/" }, replies: [{ tools: [{ name: tool, input }] }, "Thank you."] },
  ],
  default: "Good morning.",
});
const askToolScript = (input: Record<string, unknown>) => questionScript("mcp__herd__ask", input);
const colours = ["Red", "Orange", "Yellow", "Green", "Blue", "Violet"];

/** Questions of an agent to people. */
export function questions(open: OpenChat): void {
  const startChat = chatHarnessFactory(open);
  const asked = ({ chat }: ChatHarness, room: string) =>
    waitUntil("the question", async () => chat.posts(room).find((p) => p.text.startsWith("❓")));
  const waitForThanks = ({ chat }: ChatHarness, room: string) =>
    waitUntil("the answer", async () =>
      chat.posts(room).some((p) => p.text.includes("Thank you.")),
    );
  const modelInput = ({ harness }: ChatHarness) =>
    JSON.stringify(harness.rehearsal.ledger.main.at(-1)?.body);

  describe("questions", () => {
    test("offers many choices as a menu and counts only an approver's choice", async () => {
      const harness = await startChat({
        agent,
        script: askToolScript({ question: "Which?", choices: colours }),
      });
      const room = harness.chat.channel("general");
      harness.chat.say(room, "ann", `${harness.chat.mention} ask me`);
      const { id, options, buttons } = await asked(harness, room);
      expect(options).toEqual(colours);
      expect(buttons).toEqual(["Decline"]);
      const refused = await harness.chat.choose(room, id, ["Red"], "mallory");
      expect(refused).toContain("Only the approvers");
      expect(await harness.chat.choose(room, id, ["Blue"], "ann")).toContain("Answered");
      await waitForThanks(harness, room);
      expect(modelInput(harness)).toContain("A person answered: Blue");
      const after = await waitUntil("the menu to go", async () =>
        harness.chat.posts(room).find((p) => p.id === id && p.options.length === 0),
      );
      expect(after.text).toContain(`${harness.chat.userId("ann")}: Blue`);
    });

    wideTest("removes a question and its buttons when no one answers in time", async () => {
      const input = { question: "Anyone?", choices: ["Yes", "No"], expires: "2s" };
      const harness = await startChat({ agent, script: askToolScript(input) });
      const room = harness.chat.direct("dora");
      harness.chat.say(room, "dora", "ask me");
      const { id } = await asked(harness, room);
      await waitForThanks(harness, room);
      expect(modelInput(harness)).toContain("There was no answer in time");
      const after = await waitUntil("the buttons to go", async () =>
        harness.chat.posts(room).find((p) => p.id === id && p.buttons.length === 0),
      );
      expect(after.text).toContain("⌛ No longer open.");
    });

    wideTest("accepts several answers where several may be chosen", async () => {
      const options = ["Cheese", "Ham", "Egg"].map((label) => ({ label, description: "good" }));
      const question = { question: "What on it?", header: "Bread", options, multiSelect: true };
      const harness = await startChat({
        script: questionScript("AskUserQuestion", { questions: [question] }),
      });
      const room = harness.chat.direct("dora");
      harness.chat.say(room, "dora", "ask me");
      const { id } = await asked(harness, room);
      expect(await harness.chat.choose(room, id, ["Cheese", "Egg"], "dora")).toContain("Answered");
      await waitForThanks(harness, room);
      expect(modelInput(harness)).toContain("Cheese, Egg");
    });

    wideTest(
      "accepts an approver's reply as a text answer and ignores replies of others",
      async () => {
        const harness = await startChat({
          agent,
          script: askToolScript({ question: "Which name?" }),
        });
        const room = harness.chat.channel("general");
        harness.chat.say(room, "ann", `${harness.chat.mention} ask me`);
        const { id, text, buttons } = await asked(harness, room);
        expect(text).toContain("Answer with a reply to this message");
        expect(buttons).toEqual(["Decline"]);
        harness.chat.reply(room, id, "mallory", "Mallory");
        const reply = harness.chat.reply(room, id, "ann", "Rosalind");
        harness.chat.repeat(reply);
        await waitForThanks(harness, room);
        expect(modelInput(harness)).toContain("A person answered: Rosalind");
        await waitForQuiet();
        const { jobs } = await harness.fleet.jobs.list({ limit: 9 });
        expect(jobs).toHaveLength(1);
      },
    );

    wideTest("accepts a plain direct message as the answer and queues other messages", async () => {
      const script = askToolScript({ question: "Which?", choices: ["Minor", "Major"] });
      const harness = await startChat({ agent, script });
      const room = harness.chat.direct("dora");
      harness.chat.say(room, "dora", "ask me");
      const { id } = await asked(harness, room);
      harness.chat.reply(room, id, "dora", "Neither");
      const modelReceived = ({ text }: { text: string }) => text.includes("not among the choices");
      const rooms = () => [room, ...harness.chat.threadsOf(room)];
      await waitUntil("the refusal", async () =>
        rooms().some((one) => harness.chat.posts(one).some(modelReceived)),
      );
      harness.chat.say(room, "dora", "hello?");
      harness.chat.say(room, "dora", "2");
      await waitUntil("the second answer", async () =>
        harness.chat.posts(room).some((p) => p.text.includes("Good morning.")),
      );
      const requests = harness.harness.rehearsal.ledger.main.map(({ body }) =>
        JSON.stringify(body),
      );
      expect(requests.some((one) => one.includes("A person answered: Major"))).toBe(true);
      expect((await harness.fleet.jobs.list({ limit: 9 })).jobs).toHaveLength(2);
    });
  });
}
