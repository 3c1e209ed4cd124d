// libavformat, libavcodec, libavutil, libswresample: ringd-decode alone links them (25 MB, 45 ms).
#pragma once
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libswresample/swresample.h>
static inline int clibav_eagain(void) { return AVERROR(EAGAIN); }
static inline int clibav_eof(void) { return AVERROR_EOF; }
