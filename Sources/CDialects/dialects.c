#include "CDialects.h"

// The files themselves become the program's data: nothing is to be installed, found or read for them at run time.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char acrobits_text[] = {
#embed "dialects/acrobits.dialect"
};
static const unsigned char agora_chat_text[] = {
#embed "dialects/agora-chat.dialect"
};
static const unsigned char agora_rtm_text[] = {
#embed "dialects/agora-rtm.dialect"
};
static const unsigned char alertmanager_text[] = {
#embed "dialects/alertmanager.dialect"
};
static const unsigned char azure_text[] = {
#embed "dialects/azure.dialect"
};
static const unsigned char codename_one_text[] = {
#embed "dialects/codename-one.dialect"
};
static const unsigned char cometchat_text[] = {
#embed "dialects/cometchat.dialect"
};
static const unsigned char connectycube_text[] = {
#embed "dialects/connectycube.dialect"
};
static const unsigned char connectycube_rn_text[] = {
#embed "dialects/connectycube-rn.dialect"
};
static const unsigned char element_x_text[] = {
#embed "dialects/element-x.dialect"
};
static const unsigned char expo_callkit_text[] = {
#embed "dialects/expo-callkit.dialect"
};
static const unsigned char flutter_callkit_text[] = {
#embed "dialects/flutter-callkit.dialect"
};
static const unsigned char grafana_text[] = {
#embed "dialects/grafana.dialect"
};
static const unsigned char jitsi_text[] = {
#embed "dialects/jitsi.dialect"
};
static const unsigned char linphone_text[] = {
#embed "dialects/linphone.dialect"
};
static const unsigned char matrix_text[] = {
#embed "dialects/matrix.dialect"
};
static const unsigned char matrix_event_id_text[] = {
#embed "dialects/matrix-event-id.dialect"
};
static const unsigned char matrix_gateway_text[] = {
#embed "dialects/matrix-gateway.dialect"
};
static const unsigned char plain_text[] = {
#embed "dialects/plain.dialect"
};
static const unsigned char plivo_text[] = {
#embed "dialects/plivo.dialect"
};
static const unsigned char quickblox_text[] = {
#embed "dialects/quickblox.dialect"
};
static const unsigned char react_native_voip_text[] = {
#embed "dialects/react-native-voip.dialect"
};
static const unsigned char ringd_text[] = {
#embed "dialects/ringd.dialect"
};
static const unsigned char rocketchat_text[] = {
#embed "dialects/rocketchat.dialect"
};
static const unsigned char sinch_text[] = {
#embed "dialects/sinch.dialect"
};
static const unsigned char stream_text[] = {
#embed "dialects/stream.dialect"
};
static const unsigned char stringee_text[] = {
#embed "dialects/stringee.dialect"
};
static const unsigned char telnyx_text[] = {
#embed "dialects/telnyx.dialect"
};
static const unsigned char twilio_text[] = {
#embed "dialects/twilio.dialect"
};
static const unsigned char videosdk_text[] = {
#embed "dialects/videosdk.dialect"
};
static const unsigned char vonage_text[] = {
#embed "dialects/vonage.dialect"
};
static const unsigned char vonage_legacy_text[] = {
#embed "dialects/vonage-legacy.dialect"
};
static const unsigned char wazo_text[] = {
#embed "dialects/wazo.dialect"
};

#define DIALECT(name, text) {name, text, sizeof text}

static const struct ringd_dialect table[] = {
    DIALECT("acrobits", acrobits_text),
    DIALECT("agora-chat", agora_chat_text),
    DIALECT("agora-rtm", agora_rtm_text),
    DIALECT("alertmanager", alertmanager_text),
    DIALECT("azure", azure_text),
    DIALECT("codename-one", codename_one_text),
    DIALECT("cometchat", cometchat_text),
    DIALECT("connectycube", connectycube_text),
    DIALECT("connectycube-rn", connectycube_rn_text),
    DIALECT("element-x", element_x_text),
    DIALECT("expo-callkit", expo_callkit_text),
    DIALECT("flutter-callkit", flutter_callkit_text),
    DIALECT("grafana", grafana_text),
    DIALECT("jitsi", jitsi_text),
    DIALECT("linphone", linphone_text),
    DIALECT("matrix", matrix_text),
    DIALECT("matrix-event-id", matrix_event_id_text),
    DIALECT("matrix-gateway", matrix_gateway_text),
    DIALECT("plain", plain_text),
    DIALECT("plivo", plivo_text),
    DIALECT("quickblox", quickblox_text),
    DIALECT("react-native-voip", react_native_voip_text),
    DIALECT("ringd", ringd_text),
    DIALECT("rocketchat", rocketchat_text),
    DIALECT("sinch", sinch_text),
    DIALECT("stream", stream_text),
    DIALECT("stringee", stringee_text),
    DIALECT("telnyx", telnyx_text),
    DIALECT("twilio", twilio_text),
    DIALECT("videosdk", videosdk_text),
    DIALECT("vonage", vonage_text),
    DIALECT("vonage-legacy", vonage_legacy_text),
    DIALECT("wazo", wazo_text),
    {NULL, NULL, 0},
};

const struct ringd_dialect *ringd_dialects(void) { return table; }
