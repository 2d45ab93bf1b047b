/** How a widget looks and where it finds its server. What is absent is as the deployment says. */
export interface WidgetOptions {
	/** The deployment that answers: `dep_…`. */
	deploymentId: string;
	/** Where Parley's server is. Default: where this script came from. */
	baseUrl?: string | undefined;
	/** Whether the chat opens by itself: not on a small screen, nor where the visitor has closed it before. */
	open?: boolean | undefined;
	position?: 'bottom-right' | 'bottom-left' | undefined;
	theme?: 'light' | 'dark' | 'auto' | undefined;
	/** A BCP 47 tag such as `de`. Default: the first of the browser's languages that the widget speaks. */
	language?: string | undefined;
	/** The brand colour, in hexadecimal: `#4f46e5`. */
	color?: string | undefined;
	/** What stands at the top of the chat. */
	title?: string | undefined;
	/** False: no button of ours; the page calls `open()` itself. */
	launcher?: boolean | undefined;
}

/** A message as the page is told of it. */
export interface WidgetEventMessage {
	id: string;
	conversation_id: string;
	role: 'user' | 'assistant';
	author: { type: 'visitor' | 'model' | 'human'; name: string | null };
	content: string;
	status: 'completed' | 'in_progress' | 'stopped' | 'failed';
}

/** What happens in a widget, by name. */
export interface WidgetEvents {
	/** The configuration is there and the button is shown. */
	ready: Record<string, never>;
	open: Record<string, never>;
	close: Record<string, never>;
	/** The visitor's message is stored, or a whole reply is. */
	message: { message: WidgetEventMessage };
	/** A token is needed, or the one there was is over: call `identify()`. */
	unauthorized: Record<string, never>;
	/** The server refused something: `code` as in the API's errors. */
	error: { status: number; code: string };
}

/** One chat on a page. */
export interface Widget {
	readonly deploymentId: string;
	open(): void;
	close(): void;
	/** Opens the chat and sends a message of the visitor's. */
	send(text: string): void;
	/** Tells who the visitor is: a JSON Web Token made by the website's server. Again with a fresh one when it is over. */
	identify(jwt: string): void;
	/** Calls a function whenever something happens; the result takes it off again. */
	on<E extends keyof WidgetEvents>(event: E, listener: (detail: WidgetEvents[E]) => void): () => void;
	/** Takes the widget off the page, with all its connections. The conversation stays. */
	destroy(): void;
}

/** `window.Parley`: the first widget of the page, and the way to the others. */
export interface Parley extends Widget {
	/** The widget of a deployment, or the first one of the page. */
	get(deploymentId?: string): Widget | undefined;
	/** All widgets of the page, in the order in which they came. */
	readonly widgets: readonly Widget[];
}

/** Puts a chat on the page. */
export declare function createWidget(options: WidgetOptions): Widget;
