import { type Drawing, h } from './elements.ts';

const SHAPES = {
	close: 'M6 9l6 6 6-6',
	restart: 'M12 5v14M5 12h14',
	send: 'M12 19V5M6 11l6-6 6 6',
	up: 'M7 10v10H4V10zl4-7q3 0 2 6h6q1 0 1 1l-2 8q0 2-2 2H7',
	down: 'M17 14V4h3v10zl-4 7q-3 0-2-6H5q-1 0-1-1l2-8q0-2 2-2h9',
	copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
	done: 'M5 13l5 5 9-12',
	open: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
} as const;

/** A drawing in the colour of the text around it; what it means is said by the button that it is in. */
export function Icon({ shape }: { shape: keyof typeof SHAPES }): Drawing {
	return (
		<svg viewBox="0 0 24 24" aria-hidden="true">
			<path d={SHAPES[shape]} />
		</svg>
	);
}

export interface IconButtonProps {
	shape: keyof typeof SHAPES;
	/** What it does, for those who point at it and those who do not see it. */
	label: string;
	onClick(): void;
	small?: boolean;
	pressed?: boolean;
}

/** A button that shows a drawing alone. */
export function IconButton({ shape, label, onClick, small, pressed }: IconButtonProps): Drawing {
	return (
		<button
			type="button"
			class={small ? 'icon small' : 'icon'}
			title={label}
			aria-label={label}
			aria-pressed={pressed}
			onClick={onClick}
		>
			<Icon shape={shape} />
		</button>
	);
}
