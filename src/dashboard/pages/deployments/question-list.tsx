import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { fill, strings } from '../../languages/index.ts';
import { MAX_QUESTIONS } from './fields.ts';

/** The suggested questions in their order. Buttons, and Alt with an arrow key, move a question. */
export function QuestionList({
	questions,
	errorOf,
	onChange,
}: {
	questions: readonly string[];
	errorOf: (at: number) => string | null | undefined;
	onChange: (questions: string[]) => void;
}) {
	const t = strings().deploymentPages;
	const id = useId();
	const list = useRef<HTMLOListElement>(null);
	/** The question that gets the focus after the next render. */
	const [wanted, setWanted] = useState<number | null>(null);
	const [moved, setMoved] = useState('');
	// Before the next key press, whose letter would be lost.
	useLayoutEffect(() => {
		if (wanted === null) return;
		list.current?.querySelectorAll('input')[wanted]?.focus();
		setWanted(null);
	}, [wanted]);
	const move = (from: number, to: number) => {
		if (to < 0 || to >= questions.length) return;
		onChange(questions.with(from, questions[to] as string).with(to, questions[from] as string));
		setWanted(to);
		setMoved(fill(t.questionMoved, { n: to + 1 }));
	};
	const remove = (at: number) => {
		onChange(questions.toSpliced(at, 1));
		setWanted(Math.max(0, at - 1));
	};
	return (
		<fieldset class="question-list">
			<legend>{t.questions}</legend>
			<p class="hint" id={`${id}-hint`}>
				{t.questionsHint}
			</p>
			<ol ref={list}>
				{questions.map((question, at) => (
					<li key={at}>
						<input
							type="text"
							aria-label={fill(t.question, { n: at + 1 })}
							aria-describedby={errorOf(at) ? `${id}-${at}` : `${id}-hint`}
							aria-invalid={errorOf(at) ? true : undefined}
							maxLength={200}
							value={question}
							onInput={(event) => onChange(questions.with(at, event.currentTarget.value))}
							onKeyDown={(event) => {
								const step = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : undefined;
								if (step === undefined) return;
								event.preventDefault();
								move(at, at + step);
							}}
						/>
						<IconButton
							icon="up"
							label={fill(t.moveUp, { n: at + 1 })}
							disabled={at === 0}
							onClick={() => move(at, at - 1)}
						/>
						<IconButton
							icon="down"
							label={fill(t.moveDown, { n: at + 1 })}
							disabled={at === questions.length - 1}
							onClick={() => move(at, at + 1)}
						/>
						<IconButton icon="close" label={fill(t.removeQuestion, { n: at + 1 })} onClick={() => remove(at)} />
						{errorOf(at) && (
							<p class="field-error" id={`${id}-${at}`}>
								{errorOf(at)}
							</p>
						)}
					</li>
				))}
			</ol>
			{questions.length < MAX_QUESTIONS && (
				<Button
					icon="plus"
					onClick={() => {
						onChange([...questions, '']);
						setWanted(questions.length);
					}}
				>
					{t.addQuestion}
				</Button>
			)}
			<p class="visually-hidden" role="status">
				{moved}
			</p>
		</fieldset>
	);
}

function IconButton({
	icon,
	label,
	disabled,
	onClick,
}: {
	icon: 'up' | 'down' | 'close';
	label: string;
	disabled?: boolean;
	onClick: () => void;
}) {
	return (
		<button type="button" class="icon-button" aria-label={label} title={label} disabled={disabled} onClick={onClick}>
			<Icon name={icon} />
		</button>
	);
}
