// One page with several phones. The test says what they do, over server-sent events, and hears all that happens to them.
import { Inviter, Registerer, SessionState, UserAgent } from "/sip.js/index.js";

const phones = {};

// Events arrive in the order in which they were told.
let told = Promise.resolve();
function tell(phone, event, detail = "") {
	const body = JSON.stringify({ phone, event, detail: String(detail) });
	told = told.then(() => fetch("/events", { method: "POST", body })).catch(() => {});
}

// Host candidates only: there is no STUN server, and nobody outside to ask.
const media = { iceGatheringTimeout: 2000, peerConnectionConfiguration: { iceServers: [] } };

// watch tells what becomes of a session, and when its media flows.
function watch(name, session) {
	phones[name].session = session;
	session.stateChange.addListener((state) => {
		tell(name, "session", state);
		if (state === SessionState.Established) {
			const began = Date.now();
			const timer = setInterval(async () => {
				const pc = session.sessionDescriptionHandler?.peerConnection;
				if (!pc || session.state !== SessionState.Established || Date.now() - began > 30000) {
					clearInterval(timer);
					return;
				}
				for (const s of (await pc.getStats()).values()) {
					if (s.type === "inbound-rtp" && s.packetsReceived > 10) {
						clearInterval(timer);
						tell(name, "media", pc.connectionState);
					}
				}
			}, 200);
		}
	});
}

const commands = {
	// add makes a phone and registers it.
	async add({ phone, user, domain, password, server }) {
		const agent = new UserAgent({
			uri: UserAgent.makeURI(`sip:${user}@${domain}`),
			authorizationUsername: user,
			authorizationPassword: password,
			transportOptions: { server },
			sessionDescriptionHandlerFactoryOptions: media,
			logConnector: (level, category, label, content) => ["warn", "error"].includes(level) && tell(phone, "log", `${category} ${content}`),
			delegate: {
				onInvite(invitation) {
					watch(phone, invitation);
					tell(phone, "invite", invitation.remoteIdentity.uri);
					invitation.accept();
				},
				onDisconnect: (error) => tell(phone, "disconnected", error ?? ""),
			},
		});
		const registerer = new Registerer(agent, { expires: 300, regId: 1, instanceId: agent.instanceId });
		phones[phone] = { agent, registerer };
		registerer.stateChange.addListener((state) => tell(phone, "registration", state));
		await agent.start();
		tell(phone, "connected");
		await register(phone);
	},
	// connect opens the WebSocket of a phone again, which was lost, and registers.
	async connect({ phone }) {
		await phones[phone].agent.reconnect();
		await register(phone);
	},
	async call({ phone, to }) {
		const inviter = new Inviter(phones[phone].agent, UserAgent.makeURI(to));
		watch(phone, inviter);
		tell(phone, "calling", inviter.request.callId);
		await inviter.invite({
			requestDelegate: { onReject: (response) => tell(phone, "rejected", response.message.statusCode) },
		});
	},
	async cancel({ phone }) {
		await phones[phone].session.cancel();
	},
	async hangUp({ phone }) {
		await phones[phone].session.bye();
	},
	async unregister({ phone }) {
		await phones[phone].registerer.unregister();
	},
};

async function register(phone) {
	const p = phones[phone];
	await p.registerer.register({
		requestDelegate: {
			onAccept: (response) => tell(phone, "registered", response.message.getHeader("contact")),
			onReject: (response) => tell(phone, "refused", response.message.statusCode),
		},
	});
}

new EventSource("/commands").onmessage = async (message) => {
	const command = JSON.parse(message.data);
	try {
		await commands[command.do](command);
	} catch (error) {
		tell(command.phone, "failed", `${command.do}: ${error}`);
	}
};
