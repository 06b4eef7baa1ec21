import { fillPrompt } from "../triggers/prompt-template.ts";
import type { WorkItem } from "./work-source.ts";

const wholeItem = `The work item ({{work.id}}), its title and its text:
{{work.title}}
{{work.body}}`;

const plainTask = "Do what the work item below asks for, as far as you may and can.";

/**
 * What the agent is told of an item. Where the operator's own words have no place for it, it stands
 * below them; words that were filled in before are not looked through again.
 */
export function workPrompt(item: WorkItem, template: string | undefined, filled: boolean): string {
  const values = { work: { ...item, id: Number(item.id) || item.id } };
  const task = template ?? plainTask;
  if (filled || !/\{\{\s*work\./.test(task)) {
    return `${task}\n\n${fillPrompt(wholeItem, values)}`;
  }
  return fillPrompt(task, values);
}
