<?php
// PHP's ssl:// streams, as the tutorials of the legacy binary protocol have it.
//
// Environment: PUSH_HOST, PUSH_PORT (else gateway.push.apple.com:2195), PUSH_CERTIFICATE, PUSH_AUTHORITY (else what PHP
// trusts by itself), PUSH_PATIENCE (seconds to wait for an error packet).
// Arguments: one JSON object for each push (command, token, payload; optional identifier, expiration), all written at
// once on one connection; or "feedback". One JSON line at the end.

$host = getenv('PUSH_HOST') ?: 'gateway.push.apple.com';
$port = getenv('PUSH_PORT') ?: '2195';
$isFeedback = ($argv[1] ?? '') === 'feedback';
if ($isFeedback && !getenv('PUSH_HOST')) {
    [$host, $port] = ['feedback.push.apple.com', '2196'];
}

$context = stream_context_create();
stream_context_set_option($context, 'ssl', 'local_cert', getenv('PUSH_CERTIFICATE'));
if (getenv('PUSH_AUTHORITY')) {
    stream_context_set_option($context, 'ssl', 'cafile', getenv('PUSH_AUTHORITY'));
}
$stream = stream_socket_client("ssl://$host:$port", $code, $words, 30, STREAM_CLIENT_CONNECT, $context);
if (!$stream) {
    echo json_encode(['ok' => false, 'fault' => "$code $words"]), "\n";
    exit(1);
}

if ($isFeedback) {
    $tokens = [];
    while (!feof($stream)) {
        $head = fread($stream, 6);
        if (strlen($head) < 6) {
            break;
        }
        $tuple = unpack('Ntimestamp/nlength', $head);
        $tokens[] = ['token' => bin2hex(fread($stream, $tuple['length'])), 'timestamp' => $tuple['timestamp']];
    }
    echo json_encode(['ok' => true, 'tokens' => $tokens]), "\n";
    exit(0);
}

$bytes = '';
foreach (array_slice($argv, 1) as $argument) {
    $push = json_decode($argument, true);
    $token = pack('H*', $push['token']);
    $payload = json_encode($push['payload']);
    $identifier = $push['identifier'] ?? 0;
    $expiration = $push['expiration'] ?? 0;
    switch ($push['command']) {
        case 0:
            $bytes .= pack('Cn', 0, strlen($token)) . $token . pack('n', strlen($payload)) . $payload;
            break;
        case 1:
            $bytes .= pack('CNNn', 1, $identifier, $expiration, strlen($token)) . $token
                . pack('n', strlen($payload)) . $payload;
            break;
        case 2:
            $frame = pack('Cn', 1, strlen($token)) . $token . pack('Cn', 2, strlen($payload)) . $payload
                . pack('CnN', 3, 4, $identifier) . pack('CnN', 4, 4, $expiration) . pack('CnC', 5, 1, 10);
            $bytes .= pack('CN', 2, strlen($frame)) . $frame;
            break;
    }
}
fwrite($stream, $bytes);

// No answer is the good answer.
$patience = (float) (getenv('PUSH_PATIENCE') ?: 1);
stream_set_timeout($stream, (int) $patience, (int) (fmod($patience, 1) * 1000000));
$packet = fread($stream, 6);
$told = strlen((string) $packet) === 6 ? unpack('Ccommand/Cstatus/Nidentifier', $packet) : [];
if ($told) {
    // The gateway closes behind it.
    fread($stream, 1);
}
echo json_encode(['ok' => !$told && !feof($stream), 'isCut' => feof($stream)] + $told), "\n";
