<?php
// PHP's curl extension, as the many snippets have it since 2016. Parameters as in pushes.py; what is not set is left
// to PHP: Apple's host, and the authorities of curl.cainfo.

function base64url(string $bytes): string
{
    return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
}

$headers = [];
$ch = curl_init();
if (getenv('PUSH_CERTIFICATE')) {
    curl_setopt($ch, CURLOPT_SSLCERT, getenv('PUSH_CERTIFICATE'));
} else {
    $unsigned = base64url(json_encode(['alg' => 'ES256', 'kid' => getenv('PUSH_KEY_ID')])) . '.'
        . base64url(json_encode(['iss' => getenv('PUSH_TEAM_ID'), 'iat' => time()]));
    openssl_sign($unsigned, $signature, openssl_pkey_get_private('file://' . getenv('PUSH_KEY')), 'sha256');
    $headers[] = "authorization: bearer $unsigned." . base64url($signature);
}
if (getenv('PUSH_AUTHORITY')) {
    curl_setopt($ch, CURLOPT_CAINFO, getenv('PUSH_AUTHORITY'));
}
if (getenv('PUSH_HOST')) {
    curl_setopt($ch, CURLOPT_CONNECT_TO, ['::' . getenv('PUSH_HOST') . ':' . getenv('PUSH_PORT')]);
}
curl_setopt($ch, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_0);
curl_setopt($ch, CURLOPT_RETURNTRANSFER, true);
curl_setopt($ch, CURLOPT_POST, true);

foreach (array_slice($argv, 1) as $argument) {
    $push = json_decode($argument, true);
    $more = ["apns-topic: {$push['topic']}", 'apns-push-type: voip'];
    foreach (['id', 'expiration', 'priority'] as $name) {
        if (isset($push[$name])) {
            $more[] = "apns-$name: {$push[$name]}";
        }
    }
    $answered = [];
    curl_setopt($ch, CURLOPT_HEADERFUNCTION, function ($ch, $line) use (&$answered) {
        [$name, $value] = explode(':', $line, 2) + [1 => ''];
        $answered[strtolower($name)] = trim($value);
        return strlen($line);
    });
    // Apple's name stays in the URL: that is what the certificate is held against.
    curl_setopt($ch, CURLOPT_URL, 'https://api.push.apple.com/3/device/' . $push['token']);
    curl_setopt($ch, CURLOPT_HTTPHEADER, array_merge($headers, $more));
    curl_setopt($ch, CURLOPT_POSTFIELDS, json_encode($push['payload']));
    $body = curl_exec($ch);
    $status = curl_getinfo($ch, CURLINFO_HTTP_CODE);
    $answer = json_decode((string) $body, true) ?? [];
    echo json_encode(array_filter([
        'ok' => $status === 200,
        'status' => $status,
        'reason' => $answer['reason'] ?? null,
        'timestamp' => $answer['timestamp'] ?? null,
        'id' => $answered['apns-id'] ?? null,
        'protocol' => curl_getinfo($ch, CURLINFO_HTTP_VERSION) === CURL_HTTP_VERSION_2_0 ? 'HTTP/2' : 'HTTP/1.1',
        'fault' => curl_error($ch) ?: null,
    ], fn ($value) => $value !== null)), "\n";
}
