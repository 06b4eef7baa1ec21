import { cancel, group, intro, select, text } from "@clack/prompts";

export interface FleetPlan {
  name: string;
  example: string;
}

export const fleetName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const fleetNameHint = "Use letters, digits, - and _, at most 64 characters.";

/** Undefined when the person backs out. */
export async function askAboutFleet(
  suggested: FleetPlan,
  examples: { name: string; summary: string }[],
): Promise<FleetPlan | undefined> {
  intro("A new fleet");
  let backedOut = false;
  const answers = await group(
    {
      name: () =>
        text({
          message: "What is the fleet called?",
          initialValue: suggested.name,
          validate: (value) => (fleetName.test(value ?? "") ? undefined : fleetNameHint),
        }),
      example: () =>
        select({
          message: "What should it begin with?",
          initialValue: suggested.example,
          options: examples.map(({ name, summary }) => ({
            value: name,
            label: name,
            hint: summary,
          })),
        }),
    },
    {
      onCancel: () => {
        backedOut = true;
        cancel("Nothing was written.");
      },
    },
  );
  return backedOut ? undefined : answers;
}
