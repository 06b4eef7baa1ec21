import { useId } from "react";
import type { Reading } from "../../job/story-store.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { TextInput } from "../../ui/field.tsx";
import type { JobSearch } from "./search.ts";
import { Stepper } from "./stepper.tsx";

interface JobToolsProps {
  view: JobSearch["view"];
  onView(view: JobSearch["view"]): void;
  words: string;
  onWords(words: string): void;
  found: string[];
  errors: string[];
  target: string | undefined;
  onJump(key: string): void;
  reading: Reading;
}

export function JobTools(props: JobToolsProps) {
  const { view, onView, words, onWords, found, errors, target, onJump, reading } = props;
  const id = useId();
  const at = (keys: string[]) => (target === undefined ? -1 : keys.indexOf(target));
  const step = (keys: string[]) => (index: number) => {
    const key = keys[index];
    if (key !== undefined) onJump(key);
  };
  return (
    <div className="flex flex-wrap items-center gap-2">
      <fieldset aria-label="View" className="flex gap-1">
        <ViewButton isOn={view === undefined} onClick={() => onView(undefined)}>
          <span className="lg:hidden">Conversation</span>
          <span className="hidden lg:inline">Side by side</span>
        </ViewButton>
        <ViewButton
          isOn={view === "waterfall"}
          className="lg:hidden"
          onClick={() => onView("waterfall")}
        >
          Waterfall
        </ViewButton>
        <ViewButton isOn={view === "raw"} onClick={() => onView("raw")}>
          Raw events
        </ViewButton>
      </fieldset>
      {reading === "away" && <Badge tone="warn">waiting for the fleet</Badge>}
      <div className="ml-auto flex flex-wrap items-center gap-2">
        <Stepper
          one="error"
          many="errors"
          count={errors.length}
          at={at(errors)}
          onStep={step(errors)}
        />
        {words.trim() !== "" && (
          <Stepper
            one="found"
            many="found"
            count={found.length}
            at={at(found)}
            onStep={step(found)}
          />
        )}
        <label htmlFor={id} className="sr-only">
          Search in this job
        </label>
        <TextInput
          id={id}
          type="search"
          placeholder="Search in this job"
          className="w-48"
          value={words}
          onChange={(event) => onWords(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || found.length === 0) return;
            const by = event.shiftKey ? -1 : 1;
            step(found)((at(found) + by + found.length) % found.length);
          }}
        />
      </div>
    </div>
  );
}

interface ViewButtonProps {
  isOn: boolean;
  onClick(): void;
  className?: string;
  children: React.ReactNode;
}

function ViewButton({ isOn, className, ...rest }: ViewButtonProps) {
  const look = isOn ? "bg-hover text-text" : "";
  return (
    <Button
      size="small"
      look="quiet"
      aria-pressed={isOn}
      className={classNames(look, className)}
      {...rest}
    />
  );
}
