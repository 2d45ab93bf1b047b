import { h, type VirtualNode } from './virtual-dom.ts';

const SHAPES = {
	close: 'M6 6l12 12M18 6L6 18',
	menu: 'M4 12a1 1 0 1 1 2 0 1 1 0 1 1-2 0m7 0a1 1 0 1 1 2 0 1 1 0 1 1-2 0m7 0a1 1 0 1 1 2 0 1 1 0 1 1-2 0',
	document: 'M6 3h8l4 4v14H6zM9 12h6M9 16h6',
	send: 'M12 19V5M6 11l6-6 6 6',
	up: 'M7 10v10H4V10zl4-7q3 0 2 6h6q1 0 1 1l-2 8q0 2-2 2H7',
	down: 'M17 14V4h3v10zl-4 7q-3 0-2-6H5q-1 0-1-1l2-8q0-2 2-2h9',
	copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
	done: 'M5 13l5 5 9-12',
	open: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
} as const;

/** An icon in the colour of the surrounding text. It is decorative: the button has the label. */
export function Icon({ shape }: { shape: keyof typeof SHAPES }): VirtualNode {
	return (
		<svg viewBox="0 0 24 24" aria-hidden="true">
			<path d={SHAPES[shape]} />
		</svg>
	);
}

export interface IconButtonProps {
	shape: keyof typeof SHAPES;
	/** Tooltip and accessible name. */
	label: string;
	onClick(): void;
	small?: boolean;
	pressed?: boolean;
	/** The value of `aria-expanded`. */
	expanded?: boolean;
}

/** A button that shows only an icon. */
export function IconButton({ shape, label, onClick, small, pressed, expanded }: IconButtonProps): VirtualNode {
	return (
		<button
			type="button"
			class={small ? 'icon small' : 'icon'}
			title={label}
			aria-label={label}
			aria-pressed={pressed}
			aria-expanded={expanded}
			onClick={onClick}
		>
			<Icon shape={shape} />
		</button>
	);
}
