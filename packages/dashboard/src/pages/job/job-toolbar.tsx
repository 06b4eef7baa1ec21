import { useId } from "react";
import type { ReadingState } from "../../transcript/transcript-store.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { TextInput } from "../../ui/form-controls.tsx";
import type { JobSearch } from "./search-params.ts";
import { Stepper } from "./stepper.tsx";

interface JobToolbarProps {
  view: JobSearch["view"];
  onView(view: JobSearch["view"]): void;
  searchText: string;
  onSearchTextChange(searchText: string): void;
  foundKeys: string[];
  errorKeys: string[];
  target: string | undefined;
  onJump(key: string): void;
  readingState: ReadingState;
}

export function JobToolbar(props: JobToolbarProps) {
  const {
    view,
    onView,
    searchText,
    onSearchTextChange,
    foundKeys,
    errorKeys,
    target,
    onJump,
    readingState,
  } = props;
  const id = useId();
  const currentIndexIn = (keys: string[]) => (target === undefined ? -1 : keys.indexOf(target));
  const stepThrough = (keys: string[]) => (index: number) => {
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
      {readingState === "away" && <Badge tone="warn">Reconnecting…</Badge>}
      <div className="ml-auto flex flex-wrap items-center gap-2">
        <Stepper
          singular="error"
          plural="errors"
          count={errorKeys.length}
          index={currentIndexIn(errorKeys)}
          onStep={stepThrough(errorKeys)}
        />
        {searchText.trim() !== "" && (
          <Stepper
            singular="match"
            plural="matches"
            count={foundKeys.length}
            index={currentIndexIn(foundKeys)}
            onStep={stepThrough(foundKeys)}
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
          value={searchText}
          onChange={(event) => onSearchTextChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || foundKeys.length === 0) return;
            const delta = event.shiftKey ? -1 : 1;
            stepThrough(foundKeys)(
              (currentIndexIn(foundKeys) + delta + foundKeys.length) % foundKeys.length,
            );
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
  const pressedClass = isOn ? "bg-hover text-text" : "";
  return (
    <Button
      size="small"
      variant="quiet"
      aria-pressed={isOn}
      className={classNames(pressedClass, className)}
      {...rest}
    />
  );
}
