// Listens at a monitor: says when sound begins and ends, and keeps what was heard.
//
//   ear SOURCE [FILE]      48 kHz, stereo, s16le; the left channel is judged; FILE gets the samples as they are
//
// "on NANOSECONDS FRAME" is the first sample above -60 dB after a silence, "off NANOSECONDS FRAME" the last that is not
// zero before 50 ms of zeros. An instant (CLOCK_MONOTONIC) is that of the fragment's arrival here, less the samples
// that follow in it.
#include <pulse/pulseaudio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RATE = 48000, QUIET = 32, SILENCE = RATE / 20 };

static FILE *file;
static long long heard, zeros, last_at, last_frame;
static int sounding;

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void take(const short *samples, long count, long long arrived) {
    for (long i = 0; i < count; i++) {
        int level = samples ? abs(samples[2 * i]) : 0;
        long long at = arrived - (count - i) * 1000000000LL / RATE;
        if (level) {
            zeros = 0, last_at = at, last_frame = heard + i;
        } else {
            zeros++;
        }
        if (!sounding && level > QUIET) {
            sounding = 1;
            printf("on %lld %lld\n", at, heard + i);
            fflush(stdout);
        } else if (sounding && zeros == SILENCE) {
            sounding = 0;
            printf("off %lld %lld\n", last_at, last_frame);
            fflush(stdout);
        }
    }
    heard += count;
}

static void readable(pa_stream *stream, size_t bytes, void *unused) {
    long long arrived = now();
    const void *data;
    (void)unused, (void)bytes;
    while (pa_stream_readable_size(stream) > 0) {
        size_t size = 0;
        if (pa_stream_peek(stream, &data, &size) < 0 || size == 0) return;
        take(data, (long)(size / 4), arrived);
        if (file && data) fwrite(data, 1, size, file);
        if (!data) fprintf(stderr, "ear: a hole of %zu bytes\n", size);
        pa_stream_drop(stream);
    }
}

static void changed(pa_stream *stream, void *loop) {
    if (pa_stream_get_state(stream) == PA_STREAM_READY) {
        printf("ready\n");
        fflush(stdout);
    } else if (!PA_STREAM_IS_GOOD(pa_stream_get_state(stream))) {
        pa_mainloop_quit(loop, 1);
    }
}

static void connected(pa_context *context, void *arguments) {
    void **with = arguments;
    if (pa_context_get_state(context) == PA_CONTEXT_READY) {
        pa_sample_spec spec = {PA_SAMPLE_S16LE, RATE, 2};
        // Two milliseconds: the sink then works in blocks as small.
        pa_buffer_attr small = {.maxlength = 4 * RATE, .fragsize = 4 * RATE / 500};
        pa_stream *stream = pa_stream_new(context, "ear", &spec, NULL);
        pa_stream_set_read_callback(stream, readable, NULL);
        pa_stream_set_state_callback(stream, changed, with[0]);
        pa_stream_connect_record(stream, with[1], &small, PA_STREAM_ADJUST_LATENCY);
    } else if (!PA_CONTEXT_IS_GOOD(pa_context_get_state(context))) {
        pa_mainloop_quit(with[0], 1);
    }
}

int main(int argc, char **argv) {
    int status = 0;
    if (argc < 2) return 2;
    if (argc > 2 && !(file = fopen(argv[2], "w"))) return 1;
    pa_mainloop *loop = pa_mainloop_new();
    void *with[] = {loop, argv[1]};
    pa_context *context = pa_context_new(pa_mainloop_get_api(loop), "ear");
    pa_context_set_state_callback(context, connected, with);
    pa_context_connect(context, NULL, PA_CONTEXT_NOAUTOSPAWN, NULL);
    pa_mainloop_run(loop, &status);
    fprintf(stderr, "ear: the sound server went away\n");
    return status;
}
