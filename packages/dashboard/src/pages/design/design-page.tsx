import { PageHead } from "../../ui/page-head.tsx";
import { Charts } from "./charts.tsx";
import { Colours } from "./colours.tsx";
import { Parts } from "./parts.tsx";
import { States } from "./states.tsx";
import { TypeScale } from "./type-scale.tsx";

/** All that pages are made of; what is not here is not used. */
export function DesignPage() {
  return (
    <>
      <PageHead
        title="Design"
        note="Calm, dense, quick; the words first. Every colour, size and part that pages are made of."
      />
      <div className="flex flex-col gap-4">
        <Colours />
        <TypeScale />
        <Parts />
        <Charts />
        <States />
      </div>
    </>
  );
}
