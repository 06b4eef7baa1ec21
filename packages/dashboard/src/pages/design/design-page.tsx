import { PageHeader } from "../../ui/page-header.tsx";
import { Charts } from "./charts.tsx";
import { Colours } from "./colours.tsx";
import { Components } from "./components.tsx";
import { States } from "./states.tsx";
import { TypeScale } from "./type-scale.tsx";

/** A showcase of every shared component, colour and type size. */
export function DesignPage() {
  return (
    <>
      <PageHeader title="Design" note="The colours, type sizes and components of the dashboard" />
      <div className="flex flex-col gap-4">
        <Colours />
        <TypeScale />
        <Components />
        <Charts />
        <States />
      </div>
    </>
  );
}
