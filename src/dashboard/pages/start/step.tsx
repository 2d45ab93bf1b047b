import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { strings } from '../../languages/index.ts';
import type { Setup } from './queries.ts';

export interface StepProps {
	setup: Setup;
	/** Shows the next step. */
	onNext: () => void;
}

/** One step of the first run, with its way onward. The focus goes to its title. */
export function StepFrame({
	title,
	text,
	isDone,
	nextLabel,
	onNext,
	children,
}: {
	title: string;
	text: string;
	/** Whether the person goes on, or skips the step. */
	isDone: boolean;
	/** Default: "Next". */
	nextLabel?: string;
	onNext: () => void;
	children: ComponentChildren;
}) {
	const t = strings().startPage;
	const heading = useRef<HTMLHeadingElement>(null);
	useEffect(() => heading.current?.focus(), []);
	return (
		<section class="card guide-step" aria-labelledby="guide-step-title">
			<h2 id="guide-step-title" tabIndex={-1} ref={heading}>
				{title}
			</h2>
			<p class="soft">{text}</p>
			{children}
			<div class="actions guide-actions">
				{isDone ? (
					<Button look="primary" onClick={onNext}>
						{nextLabel ?? t.next}
					</Button>
				) : (
					<Button look="quiet" onClick={onNext}>
						{t.skip}
					</Button>
				)}
			</div>
		</section>
	);
}
