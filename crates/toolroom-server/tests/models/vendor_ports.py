"""In a network of its own: who connects to the ports where models of this machine usually are.

Arguments: the toolroom binary. Prints {"wire": [[door, vendor, status]], "hits_by_wire": [ports], "hits_by_owner": [ports]}.
"""
import fcntl, http.client, json, socket, struct, subprocess, sys, threading

PORTS = {"ollama": 11434, "lmstudio": 1234, "llamacpp": 8080, "vllm": 8000}
toolroom, hits = sys.argv[1], []

# A new network has its loopback switched off.
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    fcntl.ioctl(control, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))


def listens(port):
    listener = socket.create_server(("127.0.0.1", port))

    def accepts():
        while True:
            connection, _ = listener.accept()
            hits.append(port)
            connection.close()

    threading.Thread(target=accepts, daemon=True).start()


for port in PORTS.values():
    listens(port)


def run(*words):
    return subprocess.run([toolroom, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)


server = subprocess.Popen([toolroom, "serve", "--listen", "127.0.0.1:0", "--json"], stdout=subprocess.PIPE, text=True)
address = json.loads(server.stdout.readline())["url"].removeprefix("http://")
key = json.loads(run("keys", "create", "--name", "k", "--scope", "read,chat,manage", "--json").stdout)["key"]


def send(method, path, body):
    connection = http.client.HTTPConnection(address, timeout=60)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body), headers)
    reply = connection.getresponse()
    reply.read()
    return reply.status


wire = []
for vendor in PORTS:
    model, said = f"{vendor}/m", [{"id": "u", "role": "user", "content": "hi"}]
    wire.append(["model", vendor, send("POST", "/v1/runs", {"message": "hi", "model": model, "wait": True})])
    for agent, fields in [("main", {"models": [model]}), ("ranked", {"models": ["offline/toolroom"], "ranker": model})]:
        agent = f"{vendor}-{agent}"
        assert send("PUT", f"/v1/agents/{agent}", fields) < 300
        wire.append([f"agent {agent}", vendor, send("POST", "/v1/runs", {"message": "hi", "agent": agent, "wait": True})])
        wire.append([f"agui {agent}", vendor, send("POST", f"/agui/{agent}", {"threadId": agent, "runId": "r", "messages": said})])
        wire.append([f"openai {agent}", vendor, send("POST", "/v1/chat/completions", {"model": agent, "messages": said})])
by_wire = list(hits)
server.terminate()
server.wait()

# The owner at a terminal names a model: that is enough.
run("chat", "--model", "ollama/m", "hi", "--no-input")
print(json.dumps({"wire": wire, "hits_by_wire": by_wire, "hits_by_owner": hits[len(by_wire):]}))
