import { describe, expect, test } from "vitest";
import { until } from "../support/fleet-program.ts";
import { wideTest } from "../support/width.ts";
import { type ChatStage, chatStageOf, type OpenChat, quiet } from "./chat-stage.ts";

const agent = "tools: [ask]";
const asks = (tool: string, input: Record<string, unknown>) => ({
  rules: [
    { match: { prompt: "/ask me/" }, replies: [{ tools: [{ name: tool, input }] }, "Thank you."] },
  ],
  default: "Good morning.",
});
const asking = (input: Record<string, unknown>) => asks("mcp__herd__ask", input);
const colours = ["Red", "Orange", "Yellow", "Green", "Blue", "Violet"];

/** What an agent wants to know of people. */
export function questions(open: OpenChat): void {
  const chatStage = chatStageOf(open);
  const asked = ({ chat }: ChatStage, room: string) =>
    until("the question", async () => chat.posts(room).find((p) => p.text.startsWith("❓")));
  const thanked = ({ chat }: ChatStage, room: string) =>
    until("the answer", async () => chat.posts(room).some((p) => p.text.includes("Thank you.")));
  const told = ({ on }: ChatStage) => JSON.stringify(on.rehearsal.ledger.main.at(-1)?.body);

  describe("questions", () => {
    test("many choices come as a menu; an approver's choice counts, a stranger's does not", async () => {
      const on = await chatStage({
        agent,
        script: asking({ question: "Which?", choices: colours }),
      });
      const room = on.chat.channel("general");
      on.chat.say(room, "ann", `${on.chat.mention} ask me`);
      const { id, options, buttons } = await asked(on, room);
      expect(options).toEqual(colours);
      expect(buttons).toEqual(["Decline"]);
      const refused = await on.chat.choose(room, id, ["Red"], "mallory");
      expect(refused).toContain("Only the approvers");
      expect(await on.chat.choose(room, id, ["Blue"], "ann")).toContain("Answered");
      await thanked(on, room);
      expect(told(on)).toContain("A person answered: Blue");
      const after = await until("the menu to go", async () =>
        on.chat.posts(room).find((p) => p.id === id && p.options.length === 0),
      );
      expect(after.text).toContain(`${on.chat.userId("ann")}: Blue`);
    });

    wideTest("one that nobody answers in time is taken back, and its buttons with it", async () => {
      const input = { question: "Anyone?", choices: ["Yes", "No"], expires: "2s" };
      const on = await chatStage({ agent, script: asking(input) });
      const room = on.chat.direct("dora");
      on.chat.say(room, "dora", "ask me");
      const { id } = await asked(on, room);
      await thanked(on, room);
      expect(told(on)).toContain("Nobody answered in time");
      const after = await until("the buttons to go", async () =>
        on.chat.posts(room).find((p) => p.id === id && p.buttons.length === 0),
      );
      expect(after.text).toContain("⌛ No longer asked.");
    });

    wideTest("where several may be chosen, several count", async () => {
      const options = ["Cheese", "Ham", "Egg"].map((label) => ({ label, description: "good" }));
      const question = { question: "What on it?", header: "Bread", options, multiSelect: true };
      const on = await chatStage({ script: asks("AskUserQuestion", { questions: [question] }) });
      const room = on.chat.direct("dora");
      on.chat.say(room, "dora", "ask me");
      const { id } = await asked(on, room);
      expect(await on.chat.choose(room, id, ["Cheese", "Egg"], "dora")).toContain("Answered");
      await thanked(on, room);
      expect(told(on)).toContain("Cheese, Egg");
    });

    wideTest(
      "an answer in words is a reply to the question; others' replies are none",
      async () => {
        const on = await chatStage({ agent, script: asking({ question: "Which name?" }) });
        const room = on.chat.channel("general");
        on.chat.say(room, "ann", `${on.chat.mention} ask me`);
        const { id, text, buttons } = await asked(on, room);
        expect(text).toContain("Answer by a reply to this message");
        expect(buttons).toEqual(["Decline"]);
        on.chat.reply(room, id, "mallory", "Mallory");
        const reply = on.chat.reply(room, id, "ann", "Rosalind");
        on.chat.repeat(reply);
        await thanked(on, room);
        expect(told(on)).toContain("A person answered: Rosalind");
        await quiet();
        const { jobs } = await on.fleet.jobs({ limit: 9 });
        expect(jobs).toHaveLength(1);
      },
    );

    wideTest("directly it is enough to write; what is no answer waits for its turn", async () => {
      const script = asking({ question: "Which?", choices: ["Minor", "Major"] });
      const on = await chatStage({ agent, script });
      const room = on.chat.direct("dora");
      on.chat.say(room, "dora", "ask me");
      const { id } = await asked(on, room);
      on.chat.reply(room, id, "dora", "Neither");
      const isTold = ({ text }: { text: string }) => text.includes("not among the choices");
      const rooms = () => [room, ...on.chat.threadsOf(room)];
      await until("the refusal", async () =>
        rooms().some((one) => on.chat.posts(one).some(isTold)),
      );
      on.chat.say(room, "dora", "hello?");
      on.chat.say(room, "dora", "2");
      await until("the second answer", async () =>
        on.chat.posts(room).some((p) => p.text.includes("Good morning.")),
      );
      const requests = on.on.rehearsal.ledger.main.map(({ body }) => JSON.stringify(body));
      expect(requests.some((one) => one.includes("A person answered: Major"))).toBe(true);
      expect((await on.fleet.jobs({ limit: 9 })).jobs).toHaveLength(2);
    });
  });
}
