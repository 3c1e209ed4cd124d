<?php
// Sends one VoIP push the way the classic tutorials do: legacy binary APNs protocol, command 0, over TLS.
//
//   php push.php --token HEX --cert ck.pem [options]
//
// ck.pem holds certificate and key, in this or the other order. `ringctl apps` names the one that was made for an app
// (voip-<app>.pem), and ca.pem beside it, which is what --cafile wants.

$usage = <<<'TEXT'
usage: php push.php --token HEX --cert FILE [options]

  --token HEX          device token, 64 hex digits (spaces and <> are taken out)
  --cert FILE          PEM file with client certificate and private key
  --passphrase TEXT    of the private key, if it has one
  --message TEXT       who calls, as shown on the screen (default: "Alice")
  --info KEY=VALUE     data for the app; may be repeated (default: id=1, address=IANA)
  --sound NAME         ringtone (default: weixin.m4a)
  --badge NUMBER       (default: 0)
  --gateway HOST:PORT  (default: 127.0.0.1:2195)
  --sandbox            ask for gateway.sandbox.push.apple.com (TLS server name)
  --production         ask for gateway.push.apple.com (TLS server name)
  --cafile FILE        verify the gateway against this authority (ca.pem); without it nothing is verified,
                       which is good for a test on one machine and for nothing else
  --wait SECONDS       how long to watch whether the gateway cuts the line (default: 1)

Exit status: 0 handed over, 1 refused or not reached, 2 bad usage.

"Handed over" is all that a sender can know: command 0 has no answer. A gateway that refuses the push cuts the line
without a word; one that keeps the line open for a second took it. Whether it rang, `ringctl watch` tells.

TEXT;

$options = getopt('h', [
    'token:', 'cert:', 'passphrase:', 'message:', 'info:', 'sound:', 'badge:', 'gateway:', 'sandbox', 'production',
    'cafile:', 'wait:', 'help',
]);
if (isset($options['h']) || isset($options['help'])) {
    fwrite(STDOUT, $usage);
    exit(0);
}
if (!isset($options['token'], $options['cert'])) {
    fwrite(STDERR, $usage);
    exit(2);
}

$deviceToken = str_replace([' ', '<', '>'], '', $options['token']);
$passphrase = $options['passphrase'] ?? '';
$message = $options['message'] ?? 'Alice';
$gateway = $options['gateway'] ?? '127.0.0.1:2195';
$info = ['id' => '1', 'address' => 'IANA'];
if (isset($options['info'])) {
    $info = [];
    foreach ((array) $options['info'] as $pair) {
        [$key, $value] = explode('=', $pair, 2) + [1 => ''];
        $info[$key] = $value;
    }
}
if (!preg_match('/^([0-9a-fA-F]{2})+$/', $deviceToken)) {
    fwrite(STDERR, "push.php: the token is not hex\n");
    exit(2);
}
if (!is_readable($options['cert'])) {
    fwrite(STDERR, "push.php: cannot read {$options['cert']}\n");
    exit(2);
}

$ctx = stream_context_create();
stream_context_set_option($ctx, 'ssl', 'local_cert', $options['cert']);
stream_context_set_option($ctx, 'ssl', 'passphrase', $passphrase);
if (isset($options['cafile'])) {
    stream_context_set_option($ctx, 'ssl', 'cafile', $options['cafile']);
    stream_context_set_option($ctx, 'ssl', 'verify_peer', true);
} else {
    stream_context_set_option($ctx, 'ssl', 'verify_peer', false);
    stream_context_set_option($ctx, 'ssl', 'verify_peer_name', false);
}
if (isset($options['sandbox'])) {
    stream_context_set_option($ctx, 'ssl', 'peer_name', 'gateway.sandbox.push.apple.com');
} elseif (isset($options['production'])) {
    stream_context_set_option($ctx, 'ssl', 'peer_name', 'gateway.push.apple.com');
}

$fp = stream_socket_client(
    "ssl://$gateway", $err, $errstr, 60, STREAM_CLIENT_CONNECT | STREAM_CLIENT_PERSISTENT, $ctx);
if (!$fp) {
    fwrite(STDERR, "push.php: cannot connect to $gateway: " . ($errstr !== '' ? $errstr : 'TLS failed') . "\n");
    exit(1);
}

$body['aps'] = [
    'content-available' => '1',
    'alert' => $message,
    'sound' => $options['sound'] ?? 'weixin.m4a',
    'badge' => (int) ($options['badge'] ?? 0),
    'info' => $info,
];
$payload = json_encode($body);

// Command 0, token length, token, payload length, payload.
$msg = chr(0) . pack('n', 32) . pack('H*', $deviceToken) . pack('n', strlen($payload)) . $payload;
$result = fwrite($fp, $msg, strlen($msg));
if ($result !== strlen($msg)) {
    fwrite(STDERR, "push.php: not sent: the gateway took " . (int) $result . " of " . strlen($msg) . " bytes\n");
    exit(1);
}

// No answer is the good answer.
// A time-out of 0 would be none at all.
$wait = max(0.05, (float) ($options['wait'] ?? 1));
stream_set_timeout($fp, (int) $wait, (int) (fmod($wait, 1) * 1000000));
fread($fp, 6);
$isCut = feof($fp);
fclose($fp);
if ($isCut) {
    fwrite(STDERR, "push.php: refused: the gateway cut the line; ringctl watch (or the journal) says why\n");
    exit(1);
}
echo "Handed over to $gateway; the gateway kept the line open, so it took the push.\n";
