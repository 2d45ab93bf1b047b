import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Option } from './options.ts';

interface FieldProps {
	label: string;
	hint?: string | undefined;
	/** Why the value is rejected, in a sentence; null while it is fine. */
	error?: string | null | undefined;
}

interface ControlIds {
	id: string;
	'aria-describedby': string | undefined;
	'aria-invalid': boolean | undefined;
}

/** A control with its label, hint and error. */
export function Field({
	label,
	hint,
	error,
	children,
}: FieldProps & { children: (ids: ControlIds) => ComponentChildren }) {
	const id = useId();
	const described = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ');
	return (
		<div class="field">
			<label for={id}>{label}</label>
			{children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
			{hint && (
				<p class="hint" id={`${id}-hint`}>
					{hint}
				</p>
			)}
			{error && (
				<p class="field-error" id={`${id}-error`}>
					{error}
				</p>
			)}
		</div>
	);
}

interface TextProps extends FieldProps {
	value: string;
	onChange: (value: string) => void;
	maxLength?: number;
	required?: boolean;
	placeholder?: string;
	disabled?: boolean;
}

type TextType = 'text' | 'email' | 'password' | 'url' | 'search';

/** One line of text. */
export function TextField({
	label,
	hint,
	error,
	onChange,
	type = 'text',
	...input
}: TextProps & { type?: TextType; autocomplete?: string; inputMode?: 'numeric' }) {
	return (
		<Field label={label} hint={hint} error={error}>
			{(ids) => (
				<input {...ids} {...input} type={type as 'text'} onInput={(event) => onChange(event.currentTarget.value)} />
			)}
		</Field>
	);
}

/** Several lines of text. @param isCode JSON, for example: in the font of code, without checks of the spelling */
export function TextArea({
	label,
	hint,
	error,
	onChange,
	isCode,
	...area
}: TextProps & { rows?: number; isCode?: boolean }) {
	const look = isCode ? { class: 'code', spellcheck: false } : {};
	return (
		<Field label={label} hint={hint} error={error}>
			{(ids) => <textarea {...ids} {...area} {...look} onInput={(event) => onChange(event.currentTarget.value)} />}
		</Field>
	);
}

/** A choice of one of few options. */
export function SelectField({
	label,
	hint,
	error,
	value,
	options,
	onChange,
	disabled,
}: FieldProps & {
	value: string;
	options: readonly Option[];
	onChange: (value: string) => void;
	disabled?: boolean;
}) {
	return (
		<Field label={label} hint={hint} error={error}>
			{(ids) => (
				<select {...ids} value={value} disabled={disabled} onChange={(event) => onChange(event.currentTarget.value)}>
					{options.map((option) => (
						<option key={option.value} value={option.value} disabled={option.disabled}>
							{option.label}
						</option>
					))}
				</select>
			)}
		</Field>
	);
}

/** A number within bounds, with a slider beside it. */
export function SliderField({
	label,
	hint,
	value,
	min,
	max,
	step,
	onChange,
}: FieldProps & { value: number; min: number; max: number; step: number; onChange: (value: number) => void }) {
	return (
		<Field label={label} hint={hint}>
			{(ids) => (
				<span class="slider">
					<input
						{...ids}
						type="range"
						{...{ min, max, step, value }}
						onInput={(event) => onChange(event.currentTarget.valueAsNumber)}
					/>
					<output for={ids.id}>{value}</output>
				</span>
			)}
		</Field>
	);
}

export function Checkbox({
	label,
	hint,
	checked,
	onChange,
	disabled,
}: {
	label: string;
	hint?: string;
	checked: boolean;
	onChange: (checked: boolean) => void;
	disabled?: boolean;
}) {
	const id = useId();
	return (
		<div class="choice">
			<input
				id={id}
				type="checkbox"
				checked={checked}
				disabled={disabled}
				aria-describedby={hint ? `${id}-hint` : undefined}
				onChange={(event) => onChange(event.currentTarget.checked)}
			/>
			<label for={id}>{label}</label>
			{hint && (
				<p class="hint" id={`${id}-hint`}>
					{hint}
				</p>
			)}
		</div>
	);
}
