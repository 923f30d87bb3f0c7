"""The networks that `torch_networks.py` converts: a list that was written before what they need was mended.

A row has a name, what makes the network, and its inputs: shapes of floats, or tensors. Networks are as small as their
families allow: few layers and channels, random weights.
"""

import functools
import math

import timm
import torch
from torch import nn
from torch.nn import functional as F
from torchvision import models, ops


def ids(limit, *shape):
    """Integers from 0 to a limit."""
    return torch.randint(0, limit, shape)


def unit(*shape):
    """Floats from 0 to 1, without the ends."""
    return torch.rand(shape) * 0.98 + 0.01


def special(*shape):
    """Floats, some of which are 0, infinite or no numbers."""
    values = torch.randn(shape)
    flat = values.view(-1)
    flat[0], flat[1], flat[2], flat[3] = 0.0, math.inf, -math.inf, math.nan
    return values


class Of(nn.Module):
    """A function as a network."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class Made(nn.Module):
    """A function of modules, or of parameters, as a network."""

    def __init__(self, function, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self.function = function

    def forward(self, *inputs):
        return self.function(self, *inputs)


class Shared(nn.Module):
    """One module that is used twice: for both halves of the inputs, and for its own result where that fits."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        half = len(inputs) // 2
        one, other = self.module(*inputs[:half]), self.module(*inputs[half:])
        first = one
        while isinstance(first, tuple):
            first = first[0]
        alike = first.shape == inputs[0].shape and first.dtype == inputs[0].dtype
        return (one, other, self.module(first, *inputs[1:half])) if alike else (one, other)


def shared(make):
    return Shared(make())


def weight(*shape):
    return nn.Parameter(torch.randn(shape) * 0.5)


def tied(module, other, *names):
    """Gives a module the parameters of another one."""
    for name in names or ("weight",):
        setattr(other, name, getattr(module, name))
    return other


def changed(network, **parts):
    """A network with other parts, mostly a smaller head."""
    for name, part in parts.items():
        setattr(network, name, part)
    return network


# torchvision ---------------------------------------------------------------------------------------------------------

IMAGE, SMALL = (1, 3, 64, 64), (1, 3, 32, 32)


def vgg(normalized):
    layers = models.vgg.make_layers([8, "M", 16, "M", 16, 16, "M"], batch_norm=normalized)
    head = nn.Sequential(nn.Linear(16 * 49, 32), nn.ReLU(True), nn.Dropout(), nn.Linear(32, 5))
    return changed(models.VGG(layers, init_weights=False), classifier=head)


def resnet(block=models.resnet.BasicBlock, **settings):
    return models.ResNet(block, [1, 1, 1, 1], num_classes=5, **settings)


def vision_transformer():
    return models.VisionTransformer(32, 8, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=32, num_classes=5)


def swin(block):
    return models.SwinTransformer(
        [4, 4], 12, depths=[2, 2], num_heads=[2, 4], window_size=[4, 4], num_classes=5, block=block
    )


def maxvit():
    return models.MaxVit((64, 64), 8, 2, [8, 16], [1, 1], 4, 0.0, num_classes=5)


def convnext():
    config = models.convnext.CNBlockConfig
    return models.ConvNeXt([config(8, 16, 1), config(16, 24, 1), config(24, None, 1)], num_classes=5)


def features(network, **layers):
    return models._utils.IntermediateLayerGetter(network, layers)


def segmentation(head, channels=512):
    network = features(resnet(), layer4="out", layer3="aux")
    aux = models.segmentation.fcn.FCNHead(256, 5)
    return models.segmentation.fcn.FCN(network, head(channels, 5), aux)


def lraspp():
    return models.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)


def pyramid():
    network = features(resnet(), layer1="0", layer2="1", layer3="2")
    fpn = ops.FeaturePyramidNetwork([64, 128, 256], 16, ops.feature_pyramid_network.LastLevelMaxPool())
    return nn.Sequential(network, fpn)


class Heads(nn.Module):
    """A head of detection, which takes a list of maps."""

    def __init__(self, head):
        super().__init__()
        self.head = head

    def forward(self, *maps):
        return self.head(list(maps))


def video(block, conv, stem):
    return models.video.VideoResNet(block, [conv] * 4, [1, 1, 1, 1], stem, num_classes=5)


def mvit():
    config = models.video.mvit.MSBlockConfig
    blocks = [
        config(1, 8, 16, [3, 3, 3], [1, 1, 1], [3, 3, 3], [1, 2, 2]),
        config(2, 16, 16, [3, 3, 3], [1, 1, 1], [3, 3, 3], [1, 2, 2]),
    ]
    return models.video.mvit.MViT(
        (64, 64), 8, blocks, True, False, False, 0.5, 0.0, 0.0, 5, patch_embed_kernel=(3, 7, 7),
        patch_embed_stride=(2, 4, 4), patch_embed_padding=(1, 3, 3),
    )


def swin3d():
    return models.video.swin_transformer.SwinTransformer3d(
        [2, 4, 4], 12, depths=[2], num_heads=[2], window_size=[2, 4, 4], num_classes=5
    )


VIDEO = models.video.resnet

TORCHVISION = [
    ("alexnet", lambda: changed(models.alexnet(), classifier=nn.Linear(9216, 5)), [IMAGE]),
    ("vgg", lambda: vgg(False), [SMALL]),
    ("vgg_bn", lambda: vgg(True), [SMALL]),
    ("resnet", resnet, [SMALL]),
    ("resnet_bottleneck", lambda: resnet(models.resnet.Bottleneck), [SMALL]),
    ("resnet_dilated",
     lambda: resnet(models.resnet.Bottleneck, replace_stride_with_dilation=[False, True, True]), [SMALL]),
    ("resnext", lambda: resnet(models.resnet.Bottleneck, groups=4, width_per_group=8), [SMALL]),
    ("wide_resnet", lambda: resnet(models.resnet.Bottleneck, width_per_group=96), [SMALL]),
    ("densenet", lambda: models.DenseNet(8, (2, 2, 2, 2), 16, num_classes=5), [SMALL]),
    ("googlenet",
     lambda: models.GoogLeNet(5, aux_logits=False, transform_input=True, init_weights=False), [SMALL]),
    ("inception_v3",
     lambda: models.Inception3(5, aux_logits=False, transform_input=True, init_weights=False), [(1, 3, 75, 75)]),
    ("mobilenet_v2", lambda: models.mobilenet_v2(num_classes=5, width_mult=0.25), [SMALL]),
    ("mobilenet_v3_small", lambda: models.mobilenet_v3_small(num_classes=5), [SMALL]),
    ("mobilenet_v3_large", lambda: models.mobilenet_v3_large(num_classes=5), [SMALL]),
    ("shufflenet_v2", lambda: models.shufflenet_v2_x0_5(num_classes=5), [SMALL]),
    ("squeezenet1_0", lambda: models.squeezenet1_0(num_classes=5), [IMAGE]),
    ("squeezenet1_1", lambda: models.squeezenet1_1(num_classes=5), [IMAGE]),
    ("mnasnet", lambda: models.mnasnet0_5(num_classes=5), [SMALL]),
    ("efficientnet_b0", lambda: models.efficientnet_b0(num_classes=5), [SMALL]),
    ("efficientnet_v2",
     lambda: models.EfficientNet(
         [models.efficientnet.FusedMBConvConfig(1, 3, 1, 8, 8, 1), models.efficientnet.FusedMBConvConfig(4, 3, 2, 8, 16, 1),
          models.efficientnet.MBConvConfig(4, 3, 2, 16, 24, 2)], 0.1, num_classes=5, last_channel=32), [SMALL]),
    ("regnet_x", lambda: models.regnet_x_400mf(num_classes=5), [SMALL]),
    ("regnet_y", lambda: models.regnet_y_400mf(num_classes=5), [SMALL]),
    ("convnext", convnext, [SMALL]),
    ("vit", vision_transformer, [SMALL]),
    ("vit_batch", vision_transformer, [(2, 3, 32, 32)]),
    ("swin", lambda: swin(None), [SMALL]),
    ("swin_v2", lambda: models.SwinTransformer(
        [4, 4], 12, depths=[2, 2], num_heads=[2, 4], window_size=[4, 4], num_classes=5,
        block=models.swin_transformer.SwinTransformerBlockV2,
        downsample_layer=models.swin_transformer.PatchMergingV2), [SMALL]),
    ("maxvit", maxvit, [IMAGE]),
    ("fcn", lambda: segmentation(models.segmentation.fcn.FCNHead), [SMALL]),
    ("deeplabv3", lambda: segmentation(models.segmentation.deeplabv3.DeepLabHead), [SMALL]),
    ("lraspp", lraspp, [SMALL]),
    ("feature_pyramid", pyramid, [IMAGE]),
    ("retinanet_head", lambda: Heads(models.detection.retinanet.RetinaNetHead(32, 2, 3)), [(1, 32, 8, 8), (1, 32, 4, 4)]),
    ("fcos_head", lambda: Heads(models.detection.fcos.FCOSHead(32, 1, 3, 2)), [(1, 32, 8, 8), (1, 32, 4, 4)]),
    ("ssd_head", lambda: Heads(models.detection.ssd.SSDHead([8, 16], [4, 6], 3)), [(1, 8, 8, 8), (1, 16, 4, 4)]),
    ("rpn_head", lambda: Heads(models.detection.rpn.RPNHead(8, 3)), [(1, 8, 8, 8), (1, 8, 4, 4)]),
    ("mask_head", lambda: nn.Sequential(
        models.detection.mask_rcnn.MaskRCNNHeads(8, (8, 8), 1),
        models.detection.mask_rcnn.MaskRCNNPredictor(8, 8, 3)), [(2, 8, 7, 7)]),
    ("keypoint_head", lambda: nn.Sequential(
        models.detection.keypoint_rcnn.KeypointRCNNHeads(8, (8, 8)),
        models.detection.keypoint_rcnn.KeypointRCNNPredictor(8, 4)), [(2, 8, 7, 7)]),
    ("box_head", lambda: nn.Sequential(
        models.detection.faster_rcnn.TwoMLPHead(8 * 49, 16),
        models.detection.faster_rcnn.FastRCNNPredictor(16, 3)), [(2, 8, 7, 7)]),
    ("r3d", lambda: video(VIDEO.BasicBlock, VIDEO.Conv3DSimple, VIDEO.BasicStem), [(1, 3, 4, 16, 16)]),
    ("mc3", lambda: models.video.VideoResNet(
        VIDEO.BasicBlock, [VIDEO.Conv3DSimple] + [VIDEO.Conv3DNoTemporal] * 3, [1, 1, 1, 1], VIDEO.BasicStem,
        num_classes=5), [(1, 3, 4, 16, 16)]),
    ("r2plus1d", lambda: video(VIDEO.BasicBlock, VIDEO.Conv2Plus1D, VIDEO.R2Plus1dStem), [(1, 3, 4, 16, 16)]),
    ("s3d", lambda: changed(models.video.s3d(num_classes=5), avgpool=nn.AvgPool3d((2, 1, 1), 1)), [(1, 3, 16, 32, 32)]),
    ("mvit", mvit, [(1, 3, 8, 64, 64)]),
    ("swin3d", swin3d, [(1, 3, 4, 16, 16)]),
    ("raft", lambda: Of(functools.partial(models.optical_flow.raft_small(), num_flow_updates=2)),
     [(1, 3, 128, 128), (1, 3, 128, 128)]),
    ("frozen_batch_norm", lambda: ops.FrozenBatchNorm2d(4), [(1, 4, 5, 5)]),
    ("squeeze_excitation", lambda: ops.SqueezeExcitation(8, 2), [(1, 8, 5, 5)]),
    ("stochastic_depth", lambda: nn.Sequential(nn.Linear(4, 4), ops.StochasticDepth(0.5, "row")), [(2, 4)]),
    ("perceptron", lambda: ops.MLP(6, [8, 4], norm_layer=nn.LayerNorm), [(2, 6)]),
    ("deform_conv", lambda: ops.DeformConv2d(4, 6, 3, padding=1), [(1, 4, 7, 7), (1, 18, 7, 7)]),
    ("deform_conv_masked", lambda: ops.DeformConv2d(4, 6, 3, padding=1, groups=2),
     [(1, 4, 7, 7), (1, 18, 7, 7), unit(1, 9, 7, 7)]),
    ("roi_align", lambda: ops.RoIAlign(3, 0.5, 2),
     [(1, 4, 9, 9), torch.tensor([[0.0, 1.0, 2.0, 9.0, 14.0], [0.0, 0.0, 0.0, 17.0, 12.0]])]),
    ("roi_pool", lambda: ops.RoIPool(3, 0.5),
     [(1, 4, 9, 9), torch.tensor([[0.0, 1.0, 2.0, 9.0, 14.0], [0.0, 0.0, 0.0, 17.0, 12.0]])]),
    ("drop_block", lambda: nn.Sequential(nn.Conv2d(3, 4, 3), ops.DropBlock2d(0.1, 3)), [(1, 3, 7, 7)]),
    ("generalized_box_iou", lambda: Of(lambda a, b: ops.generalized_box_iou(
        torch.cat([a, a + 1 + b.abs()], 1), torch.cat([b, b + 2 + a.abs()], 1))), [(3, 2), (3, 2)]),
    ("sigmoid_focal_loss", lambda: Of(lambda x, y: ops.sigmoid_focal_loss(x, y, reduction="mean")),
     [(3, 4), unit(3, 4)]),
]

# timm ----------------------------------------------------------------------------------------------------------------

TOKENS = {"img_size": 32, "patch_size": 8, "embed_dim": 16, "depth": 2, "num_heads": 2}
NARROW, ONCE = (8, 16, 24, 32), (1, 1, 1, 1)
MIXER = {"img_size": 64}

#: Models of timm: name, settings that make it smaller, side of the image. One or more of each file of timm, but for
#: pnasnet and mobilenetv5, which have no small ones, and vgg, which torchvision has.
TIMM_MODELS = [
    ("test_byobnet", {}, 32), ("test_coatnet", {"img_size": 64}, 64), ("test_convnext", {}, 32), ("test_convnext2", {}, 32),
    ("test_convnext3", {}, 32), ("test_efficientnet", {}, 32), ("test_efficientnet_evos", {}, 32),
    ("test_efficientnet_gn", {}, 32), ("test_efficientnet_ln", {}, 32), ("test_mambaout", {}, 32),
    ("test_maxvit", {"img_size": 64}, 64), ("test_nfnet", {}, 32), ("test_resnet", {}, 32), ("test_vit", {}, 160),
    ("test_vit2", {}, 160), ("test_vit3", {}, 160), ("test_vit4", {}, 160), ("test_vit_relpos", {}, 160),
    ("beit_base_patch16_224", TOKENS, 32), ("halonet_h1", {}, 256), ("eca_botnext26ts_256", {"img_size": 64}, 64),
    ("lambda_resnet26t", {}, 64), ("mobileone_s1", {}, 32), ("cait_xxs24_224", TOKENS, 32),
    ("coat_tiny", {"img_size": 64}, 64), ("convit_tiny", {**TOKENS, "local_up_to_layer": 1}, 32),
    ("convmixer_768_32", {}, 32), ("convnextv2_atto", {}, 32), ("cpubone_nano", {}, 64),
    ("crossvit_tiny_240", {"embed_dim": (16, 32), "num_heads": (2, 2), "depth": ((1, 1, 0),)}, 240), ("csatv2", {}, 128),
    ("cs3darknet_focus_s", {}, 64), ("cspnext_tiny", {}, 64),
    ("davit_tiny", {"embed_dims": NARROW, "num_heads": (1, 2, 2, 2), "depths": ONCE}, 64),
    ("deepseek_vit_412m", {"img_size": 56, "embed_dim": 16, "depth": 2, "num_heads": 2}, 56),
    ("deit_tiny_distilled_patch16_224", TOKENS, 32), ("densenetblur121d", {"block_config": (2, 2, 2, 2)}, 32),
    ("dla46x_c", {}, 32), ("dpn48b", {}, 32), ("edgenext_xx_small", {}, 64),
    ("efficientformer_l1", {"embed_dims": NARROW, "depths": (1, 1, 1, 2)}, 224), ("efficientformerv2_s0", {}, 224),
    ("mobilenetv2_035", {}, 32), ("mixnet_s", {}, 32), ("tinynet_e", {}, 32), ("efficientvim_m1", {}, 64),
    ("efficientvit_b0", {}, 64), ("efficientvit_m0", {"img_size": 224}, 224), ("eva02_tiny_patch14_224", TOKENS, 32),
    ("vit_tiny_patch16_dinov3_qkvb", TOKENS, 32), ("fasternet_t0", {}, 32), ("fastvit_t8", {}, 64),
    ("focalnet_tiny_srf", {}, 64),
    ("gcvit_xxtiny", {}, 224),
    ("gemma4_vit_167m", {"embed_dim": 16, "depth": 2, "num_heads": 2}, 96), ("ghostnet_050", {}, 32),
    ("ghostnetv2_100", {}, 64), ("ghostnetv3_050", {}, 64), ("hardcorenas_b", {}, 32), ("hgnetv2_b0", {}, 32),
    ("hiera_tiny_224", {"embed_dim": 16, "stages": (1, 1, 2, 1)}, 224),
    ("sam2_hiera_tiny", {"embed_dim": 32}, 64), ("hrnet_w18_small", {}, 64),
    ("iformer_t", {}, 64), ("inception_next_atto", {}, 64), ("inception_resnet_v2", {}, 96), ("inception_v4", {}, 96),
    ("lcnetv2_small", {}, 32), ("levit_128s", {}, 224), ("levit_conv_128s", {}, 224), ("lowformer_b0", {}, 64),
    ("mambaout_femto", {}, 32), ("poolformer_s12", {}, 64),
    ("convformer_s18", {}, 64),
    ("caformer_s18", {}, 64), ("gmixer_12_224", MIXER, 64),
    ("gmlp_ti16_224", MIXER, 64), ("mixer_s32_224", MIXER, 64), ("resmlp_12_224", MIXER, 64), ("lcnet_035", {}, 32),
    ("mobilenetv3_small_050", {}, 32), ("mobilenetv4_conv_small_035", {}, 32), ("mobilevit_xxs", {}, 64),
    ("mobilevitv2_050", {}, 64), ("mvitv2_tiny", {"img_size": 64}, 64), ("naflexvit_base_patch16_gap", TOKENS, 32),
    ("nasnetalarge", {"stem_size": 8, "num_features": 384}, 64),
    ("nest_tiny", {"img_size": 64}, 64),
    ("nextvit_small", {}, 64), ("nf_regnet_b0", {}, 64), ("pit_ti_224", {"depth": (1, 1, 1)}, 224),
    ("pvt_v2_b0", {}, 64), ("qwen3_vit_88m", {"embed_dim": 16, "depth": 2, "num_heads": 2}, 64),
    ("rdnet_tiny", {}, 32), ("regnetx_002", {}, 32), ("regnety_002", {}, 32), ("regnetz_005", {}, 32),
    ("repghostnet_050", {}, 32), ("repvit_m0_9", {}, 64), ("res2net50_14w_8s", {"layers": ONCE}, 32),
    ("resnest14d", {}, 32), ("resnet10t", {}, 32), ("ecaresnet26t", {"layers": ONCE}, 32), ("resnetv2_50d_gn", {"layers": ONCE}, 32),
    ("resnetv2_50d_evos", {"layers": ONCE}, 32), ("resnetv2_50x1_bit", {}, 32), ("rexnet_100", {}, 32), ("selecsls42", {}, 64),
    ("legacy_seresnet18", {}, 64), ("sequencer2d_s", {"layers": ONCE, "embed_dims": NARROW, "hidden_sizes": (4, 8, 8, 8)}, 224),
    ("shvit_s1", {}, 64), ("skresnet18", {}, 32), ("starnet_s050", {}, 32), ("swiftformer_xs", {}, 64),
    ("swin_tiny_patch4_window7_224", {"img_size": 64, "embed_dim": 12, "depths": (2, 2), "num_heads": (2, 4), "window_size": 4}, 64),
    ("swinv2_tiny_window8_256",
     {"img_size": 64, "embed_dim": 12, "depths": (2, 2), "num_heads": (2, 4), "window_size": 4}, 64),
    ("swinv2_cr_tiny_224",
     {"img_size": 64, "embed_dim": 12, "depths": (2, 2), "num_heads": (2, 4), "window_size": (4, 4)}, 64),
    ("tiny_vit_5m_224", {}, 224), ("tnt_s_patch16_224", {"depth": 2}, 224), ("tresnet_m", {"layers": ONCE}, 64),
    ("twins_pcpvt_small", {"embed_dims": (16, 32, 40, 64), "depths": ONCE}, 64),
    ("twins_svt_small", {"embed_dims": (16, 32, 64, 128), "depths": ONCE}, 224), ("visformer_tiny", {}, 224),
    ("vit_tiny_r_s16_p8_224", {"img_size": 64, "embed_dim": 16, "depth": 2, "num_heads": 2}, 64),
    ("samvit_base_patch16", {**TOKENS, "global_attn_indexes": (1,), "window_size": 2}, 32),
    ("vitamin_small_224", {}, 224), ("volo_d1_224", {"img_size": 64}, 64),
    ("ese_vovnet19b_slim_dw", {}, 32), ("legacy_xception", {}, 64), ("xception41", {}, 64),
    ("xcit_nano_12_p16_224", {"depth": 2, "img_size": 64}, 64), ("vit_base_patch16_siglip_224", TOKENS, 32),
]


def of_timm(name, settings):
    return timm.create_model(name, num_classes=5, **settings)


# nn ------------------------------------------------------------------------------------------------------------------

L, C1, C2, C3 = (3, 8), (2, 4, 10), (2, 4, 8, 9), (1, 4, 5, 6, 7)


#: Modules without parameters.
PLAIN = [
    ("ELU", lambda: nn.ELU(0.7), [L]), ("Hardshrink", nn.Hardshrink, [L]), ("Hardsigmoid", nn.Hardsigmoid, [L]),
    ("Hardswish", nn.Hardswish, [L]), ("Hardtanh", lambda: nn.Hardtanh(-0.5, 0.7), [L]),
    ("LeakyReLU", lambda: nn.LeakyReLU(0.2), [L]), ("LogSigmoid", nn.LogSigmoid, [L]),
    ("LogSoftmax", lambda: nn.LogSoftmax(1), [L]), ("ReLU", nn.ReLU, [L]), ("ReLU6", nn.ReLU6, [L]),
    ("RReLU", nn.RReLU, [L]), ("SELU", nn.SELU, [L]), ("CELU", lambda: nn.CELU(0.7), [L]), ("GELU", nn.GELU, [L]),
    ("GELU_tanh", lambda: nn.GELU("tanh"), [L]), ("Sigmoid", nn.Sigmoid, [L]), ("SiLU", nn.SiLU, [L]),
    ("Mish", nn.Mish, [L]), ("Softmax", lambda: nn.Softmax(-1), [L]), ("Softmax2d", nn.Softmax2d, [C2]),
    ("Softmin", lambda: nn.Softmin(-1), [L]), ("Softplus", lambda: nn.Softplus(0.5, 3), [L]),
    ("Softshrink", nn.Softshrink, [L]), ("Softsign", nn.Softsign, [L]), ("Tanh", nn.Tanh, [L]),
    ("Tanhshrink", nn.Tanhshrink, [L]), ("Threshold", lambda: nn.Threshold(0.1, -2.0), [L]), ("GLU", nn.GLU, [L]),
    ("Unfold", lambda: nn.Unfold((2, 3), 1, (1, 0), (2, 1)), [C2]),
    ("Fold", lambda: nn.Fold((5, 6), (2, 3), 1, (1, 0), (2, 1)), [(2, 12, 12)]),
    ("MaxPool1d", lambda: nn.MaxPool1d(3, 2, 1), [C1]), ("MaxPool2d", lambda: nn.MaxPool2d(3, 2, 1), [C2]),
    ("MaxPool2d_ceil", lambda: nn.MaxPool2d(2, 2, ceil_mode=True), [C2]),
    ("MaxPool2d_indices", lambda: nn.MaxPool2d(3, 2, return_indices=True), [C2]),
    ("MaxPool3d", lambda: nn.MaxPool3d(2, 2), [C3]),
    ("MaxUnpool1d", lambda: Made(
        lambda m, x: m.back(*m.pool(x)), pool=nn.MaxPool1d(2, return_indices=True), back=nn.MaxUnpool1d(2)), [C1]),
    ("MaxUnpool2d", lambda: Made(
        lambda m, x: m.back(*m.pool(x)), pool=nn.MaxPool2d(2, return_indices=True), back=nn.MaxUnpool2d(2)), [(2, 4, 8, 6)]),
    ("MaxUnpool3d", lambda: Made(
        lambda m, x: m.back(*m.pool(x)), pool=nn.MaxPool3d(2, return_indices=True), back=nn.MaxUnpool3d(2)), [(1, 4, 4, 6, 8)]),
    ("AvgPool1d", lambda: nn.AvgPool1d(3, 2, 1), [C1]),
    ("AvgPool2d", lambda: nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False), [C2]),
    ("AvgPool3d", lambda: nn.AvgPool3d(2, 2), [C3]),
    ("FractionalMaxPool2d", lambda: nn.FractionalMaxPool2d(
        2, output_size=(4, 5), _random_samples=torch.full((2, 4, 2), 0.3)), [C2]),
    ("FractionalMaxPool3d", lambda: nn.FractionalMaxPool3d(
        2, output_size=(2, 3, 4), _random_samples=torch.full((1, 4, 3), 0.3)), [C3]),
    ("LPPool1d", lambda: nn.LPPool1d(2, 3, 2), [C1]), ("LPPool2d", lambda: nn.LPPool2d(3, (2, 3), 2), [C2]),
    ("LPPool3d", lambda: nn.LPPool3d(2, 2, 2), [C3]),
    ("AdaptiveMaxPool1d", lambda: nn.AdaptiveMaxPool1d(4), [C1]),
    ("AdaptiveMaxPool2d", lambda: nn.AdaptiveMaxPool2d((3, None)), [C2]),
    ("AdaptiveMaxPool3d", lambda: nn.AdaptiveMaxPool3d((2, 3, 4)), [C3]),
    ("AdaptiveAvgPool1d", lambda: nn.AdaptiveAvgPool1d(4), [C1]),
    ("AdaptiveAvgPool2d", lambda: nn.AdaptiveAvgPool2d((None, 4)), [C2]),
    ("AdaptiveAvgPool3d", lambda: nn.AdaptiveAvgPool3d((2, 3, 4)), [C3]),
    ("ReflectionPad1d", lambda: nn.ReflectionPad1d((1, 2)), [C1]),
    ("ReflectionPad2d", lambda: nn.ReflectionPad2d((1, 2, 3, 0)), [C2]),
    ("ReflectionPad3d", lambda: nn.ReflectionPad3d(1), [C3]),
    ("ReplicationPad1d", lambda: nn.ReplicationPad1d((1, 2)), [C1]),
    ("ReplicationPad2d", lambda: nn.ReplicationPad2d((1, 2, 3, 0)), [C2]),
    ("ReplicationPad3d", lambda: nn.ReplicationPad3d(1), [C3]),
    ("ZeroPad1d", lambda: nn.ZeroPad1d((1, 2)), [C1]), ("ZeroPad2d", lambda: nn.ZeroPad2d((1, 2, 3, 0)), [C2]),
    ("ZeroPad3d", lambda: nn.ZeroPad3d(1), [C3]), ("ConstantPad1d", lambda: nn.ConstantPad1d((1, 2), 0.5), [C1]),
    ("ConstantPad2d", lambda: nn.ConstantPad2d((1, -2, 3, 0), 0.5), [C2]),
    ("ConstantPad3d", lambda: nn.ConstantPad3d(1, 0.5), [C3]),
    ("CircularPad1d", lambda: nn.CircularPad1d((1, 2)), [C1]),
    ("CircularPad2d", lambda: nn.CircularPad2d((1, 2, 3, 0)), [C2]),
    ("CircularPad3d", lambda: nn.CircularPad3d(1), [C3]),
    ("LocalResponseNorm", lambda: nn.LocalResponseNorm(3, 0.1), [C2]),
    ("CrossMapLRN2d", lambda: nn.CrossMapLRN2d(3, 0.1), [C2]),
    ("Identity", lambda: nn.Sequential(nn.ReLU(), nn.Identity()), [L]), ("Dropout", nn.Dropout, [L]),
    ("Dropout1d", nn.Dropout1d, [C1]), ("Dropout2d", nn.Dropout2d, [C2]), ("Dropout3d", nn.Dropout3d, [C3]),
    ("AlphaDropout", nn.AlphaDropout, [L]), ("FeatureAlphaDropout", nn.FeatureAlphaDropout, [C2]),
    ("CosineSimilarity", lambda: nn.CosineSimilarity(1), [L, L]),
    ("PairwiseDistance", lambda: nn.PairwiseDistance(3.0, keepdim=True), [L, L]),
    ("PixelShuffle", lambda: nn.PixelShuffle(2), [C2]), ("PixelUnshuffle", lambda: nn.PixelUnshuffle(2), [(2, 3, 8, 6)]),
    ("ChannelShuffle", lambda: nn.ChannelShuffle(2), [C2]),
    ("Upsample_nearest", lambda: nn.Upsample(scale_factor=2), [C1]),
    ("Upsample_linear", lambda: nn.Upsample(size=17, mode="linear", align_corners=True), [C1]),
    ("Upsample_bilinear", lambda: nn.Upsample(scale_factor=(1.5, 2), mode="bilinear"), [C2]),
    ("Upsample_bicubic", lambda: nn.Upsample(scale_factor=2, mode="bicubic"), [C2]),
    ("Upsample_trilinear", lambda: nn.Upsample(scale_factor=2, mode="trilinear"), [C3]),
    ("UpsamplingNearest2d", lambda: nn.UpsamplingNearest2d(scale_factor=2), [C2]),
    ("UpsamplingBilinear2d", lambda: nn.UpsamplingBilinear2d(size=(11, 12)), [C2]),
    ("Flatten", lambda: nn.Flatten(1, 2), [C2]), ("Unflatten", lambda: nn.Unflatten(1, (2, 2)), [C2]),
]

#: Modules with parameters or state, which are used once and, shared, several times.
WITH_WEIGHTS = [
    ("Linear", lambda: nn.Linear(8, 8), [L]), ("Linear_no_bias", lambda: nn.Linear(8, 5, False), [C1[:2] + (8,)]),
    ("Bilinear", lambda: nn.Bilinear(8, 5, 4), [L, (3, 5)]), ("PReLU", lambda: nn.PReLU(4), [C2]),
    ("PReLU_one", nn.PReLU, [L]),
    ("Conv1d", lambda: nn.Conv1d(4, 4, 3, padding=1), [C1]),
    ("Conv1d_same", lambda: nn.Conv1d(4, 6, 4, padding="same"), [C1]),
    ("Conv2d", lambda: nn.Conv2d(4, 4, 3, padding=1, groups=2), [C2]),
    ("Conv2d_circular", lambda: nn.Conv2d(4, 6, 3, padding=1, padding_mode="circular"), [C2]),
    ("Conv2d_reflect", lambda: nn.Conv2d(4, 6, 3, 2, (1, 2), padding_mode="reflect", bias=False), [C2]),
    ("Conv3d", lambda: nn.Conv3d(4, 6, 3, 2, 1, dilation=(1, 2, 1)), [C3]),
    ("ConvTranspose1d", lambda: nn.ConvTranspose1d(4, 6, 3, 2, 1, 1), [C1]),
    ("ConvTranspose2d", lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, (1, 0), groups=2), [C2]),
    ("ConvTranspose3d", lambda: nn.ConvTranspose3d(4, 6, 3, 2, 1, bias=False), [C3]),
    ("BatchNorm1d", lambda: nn.BatchNorm1d(4), [C1]), ("BatchNorm2d", lambda: nn.BatchNorm2d(4), [C2]),
    ("BatchNorm2d_plain", lambda: nn.BatchNorm2d(4, affine=False), [C2]),
    ("BatchNorm2d_batch", lambda: nn.BatchNorm2d(4, track_running_stats=False), [C2]),
    ("BatchNorm3d", lambda: nn.BatchNorm3d(4), [C3]), ("SyncBatchNorm", lambda: nn.SyncBatchNorm(4), [C2]),
    ("GroupNorm", lambda: nn.GroupNorm(2, 4), [C2]), ("InstanceNorm1d", lambda: nn.InstanceNorm1d(4), [C1]),
    ("InstanceNorm2d", lambda: nn.InstanceNorm2d(4, affine=True), [C2]),
    ("InstanceNorm2d_stats", lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True), [C2]),
    ("InstanceNorm3d", lambda: nn.InstanceNorm3d(4, affine=True), [C3]), ("LayerNorm", lambda: nn.LayerNorm(8), [L]),
    ("LayerNorm_axes", lambda: nn.LayerNorm((8, 9), elementwise_affine=False), [C2]),
    ("RMSNorm", lambda: nn.RMSNorm(8), [L]),
    ("Embedding", lambda: nn.Embedding(11, 4, padding_idx=0), [ids(11, 2, 5)]),
    ("Embedding_max_norm", lambda: nn.Embedding(11, 4), [ids(11, 3)]),
    ("EmbeddingBag", lambda: nn.EmbeddingBag(11, 4), [ids(11, 3, 5)]),
    ("EmbeddingBag_sum", lambda: nn.EmbeddingBag(11, 4, mode="sum"), [ids(11, 7), torch.tensor([0, 2, 5])]),
    ("RNN", lambda: nn.RNN(6, 6), [(5, 2, 6)]),
    ("RNN_relu", lambda: nn.RNN(6, 5, 2, "relu", batch_first=True, bidirectional=True), [(2, 4, 6)]),
    ("LSTM", lambda: nn.LSTM(6, 6, batch_first=True), [(2, 5, 6)]),
    ("LSTM_two", lambda: nn.LSTM(6, 5, 2, bidirectional=True, bias=False), [(4, 2, 6)]),
    ("LSTM_projected", lambda: nn.LSTM(6, 8, proj_size=6, batch_first=True), [(2, 4, 6)]),
    ("GRU", lambda: nn.GRU(6, 6), [(5, 2, 6)]),
    ("GRU_two", lambda: nn.GRU(6, 5, 2, batch_first=True, bidirectional=True), [(2, 4, 6)]),
    ("RNNCell", lambda: nn.RNNCell(6, 5), [(2, 6), (2, 5)]), ("GRUCell", lambda: nn.GRUCell(6, 5), [(2, 6), (2, 5)]),
    ("LSTMCell", lambda: Made(lambda m, x, h, c: m.cell(x, (h, c)), cell=nn.LSTMCell(6, 5)), [(2, 6), (2, 5), (2, 5)]),
    ("MultiheadAttention", lambda: nn.MultiheadAttention(8, 2, batch_first=True), [(2, 5, 8)] * 3),
    ("MultiheadAttention_apart",
     lambda: nn.MultiheadAttention(8, 2, kdim=6, vdim=4), [(5, 2, 8), (7, 2, 6), (7, 2, 4)]),
    ("TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(8, 2, 12, batch_first=True), [(2, 5, 8)]),
    ("TransformerEncoderLayer_first",
     lambda: nn.TransformerEncoderLayer(8, 2, 12, norm_first=True, activation="gelu"), [(5, 2, 8)]),
    ("TransformerEncoder",
     lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12, batch_first=True), 2), [(2, 5, 8)]),
    ("TransformerDecoderLayer", lambda: nn.TransformerDecoderLayer(8, 2, 12, batch_first=True), [(2, 5, 8), (2, 3, 8)]),
    ("TransformerDecoder", lambda: nn.TransformerDecoder(
        nn.TransformerDecoderLayer(8, 2, 12), 2, nn.LayerNorm(8)), [(5, 2, 8), (3, 2, 8)]),
    ("Transformer", lambda: nn.Transformer(8, 2, 1, 1, 12, batch_first=True), [(2, 5, 8), (2, 3, 8)]),
    ("AdaptiveLogSoftmax", lambda: Made(
        lambda m, x: m.head.log_prob(x), head=nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])), [L]),
    ("Sequential", lambda: nn.Sequential(nn.Conv1d(4, 4, 1), nn.ReLU(), nn.BatchNorm1d(4)), [C1]),
    ("ParameterList", lambda: Made(
        lambda m, x: x @ m.list[0] + m.list[1], list=nn.ParameterList([weight(8, 8), weight(8)])), [L]),
    ("ParameterDict", lambda: Made(
        lambda m, x: x * m.dict["scale"] + m.dict["shift"],
        dict=nn.ParameterDict({"scale": weight(8), "shift": weight(3, 1)})), [L]),
    ("weight_norm", lambda: nn.utils.parametrizations.weight_norm(nn.Linear(8, 8)), [L]),
    ("weight_norm_conv", lambda: nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 4, 3, padding=1)), [C1]),
    ("spectral_norm", lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8)), [L]),
]

LABELS = torch.tensor([1, 0, 3])

LOSSES = [
    ("L1Loss", nn.L1Loss, [L, L]), ("MSELoss", lambda: nn.MSELoss(reduction="sum"), [L, L]),
    ("SmoothL1Loss", nn.SmoothL1Loss, [L, L]), ("HuberLoss", lambda: nn.HuberLoss(delta=0.5), [L, L]),
    ("BCELoss", nn.BCELoss, [unit(3, 8), unit(3, 8)]), ("BCEWithLogitsLoss", nn.BCEWithLogitsLoss, [L, unit(3, 8)]),
    ("CrossEntropyLoss", nn.CrossEntropyLoss, [L, LABELS]), ("NLLLoss", nn.NLLLoss, [L, LABELS]),
    ("KLDivLoss", lambda: nn.KLDivLoss(reduction="batchmean"), [L, unit(3, 8)]),
    ("PoissonNLLLoss", nn.PoissonNLLLoss, [L, unit(3, 8)]),
    ("GaussianNLLLoss", nn.GaussianNLLLoss, [L, L, unit(3, 8)]),
    ("SoftMarginLoss", nn.SoftMarginLoss, [L, L]), ("MarginRankingLoss", nn.MarginRankingLoss, [L, L, L]),
    ("HingeEmbeddingLoss", lambda: Of(lambda x, y: nn.HingeEmbeddingLoss()(x, torch.sign(y))), [L, L]),
    ("CosineEmbeddingLoss", lambda: Of(
        lambda a, b: nn.CosineEmbeddingLoss()(a, b, torch.ones(3))), [L, L]),
    ("TripletMarginLoss", nn.TripletMarginLoss, [L, L, L]),
    ("MultiMarginLoss", nn.MultiMarginLoss, [L, LABELS]),
    ("MultiLabelSoftMarginLoss", nn.MultiLabelSoftMarginLoss, [L, unit(3, 8)]),
]

# Weights that several modules have.

def language_model():
    network = Made(
        lambda m, x: m.head(m.cell(m.table(x))[0]),
        table=nn.Embedding(11, 6), cell=nn.GRU(6, 6, batch_first=True), head=nn.Linear(6, 11))
    tied(network.table, network.head)
    return network


def causal(size):
    return torch.full((size, size), -math.inf).triu(1)


def small_gpt():
    block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True, activation="gelu")
    network = Made(
        lambda m, x: m.head(m.body(m.table(x) + m.places, mask=causal(5))),
        table=nn.Embedding(13, 8), places=weight(1, 5, 8), body=nn.TransformerEncoder(block, 2),
        head=nn.Linear(8, 13, bias=False))
    tied(network.table, network.head)
    return network


def recurrent_convolution():
    return Made(
        lambda m, x: m.n2(m.c(F.relu(m.n1(m.c(F.relu(m.n0(m.c(x)))))))) + x,
        c=nn.Conv2d(4, 4, 3, padding=1), n0=nn.BatchNorm2d(4), n1=nn.BatchNorm2d(4), n2=nn.BatchNorm2d(4))


def tied_layers():
    cell = nn.LSTM(6, 6, 2)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        setattr(cell, f"{name}_l1", getattr(cell, f"{name}_l0"))
    return cell


def siamese():
    return Made(
        lambda m, a, b: F.cosine_similarity(m.body(a), m.body(b)),
        body=nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()))


TIED = [
    ("tied_language_model", language_model, [ids(11, 2, 5)]),
    ("tied_small_gpt", small_gpt, [ids(13, 2, 5)]),
    ("tied_autoencoder", lambda: Made(
        lambda m, x: F.linear(torch.relu(m.layer(x)), m.layer.weight.t(), m.back),
        layer=nn.Linear(8, 5), back=weight(8)), [L]),
    ("tied_linears", lambda: (lambda a: nn.Sequential(a, nn.Tanh(), tied(a, nn.Linear(8, 8))))(nn.Linear(8, 8)), [L]),
    ("tied_linears_whole", lambda: (lambda a: nn.Sequential(
        a, nn.Tanh(), tied(a, nn.Linear(8, 8), "weight", "bias")))(nn.Linear(8, 8)), [L]),
    ("tied_convolutions", lambda: (lambda a: Made(
        lambda m, x: m.a(x) + m.b(x), a=a, b=tied(a, nn.Conv2d(4, 6, 3, padding=2, dilation=2))))(
            nn.Conv2d(4, 6, 3, padding=1)), [C2]),
    ("tied_convolution_and_back", lambda: (lambda a: nn.Sequential(
        a, nn.ReLU(), tied(a, nn.ConvTranspose2d(6, 4, 3, padding=1))))(nn.Conv2d(4, 6, 3, padding=1)), [C2]),
    ("tied_convolution_function", lambda: Made(
        lambda m, x: F.conv2d(F.conv2d(x, m.w, padding=1), m.w, m.b, padding=2, dilation=2),
        w=weight(4, 4, 3, 3), b=weight(4)), [C2]),
    ("tied_norms", lambda: (lambda a: nn.Sequential(
        nn.Linear(8, 8), a, nn.Linear(8, 8), tied(a, nn.LayerNorm(8), "weight", "bias")))(nn.LayerNorm(8)), [L]),
    ("tied_batch_norms", lambda: (lambda a: nn.Sequential(
        a, nn.Conv2d(4, 4, 1), tied(a, nn.BatchNorm2d(4), "weight", "bias")))(nn.BatchNorm2d(4)), [C2]),
    ("tied_prelu", lambda: (lambda a: nn.Sequential(
        nn.Conv2d(4, 4, 1), a, nn.Conv2d(4, 4, 1), tied(a, nn.PReLU(4))))(nn.PReLU(4)), [C2]),
    ("tied_recurrent_layers", tied_layers, [(4, 2, 6)]),
    ("tied_attention", lambda: (lambda a: Made(
        lambda m, x: m.b(*[m.a(x, x, x)[0]] * 3)[0], a=a,
        b=tied(a, nn.MultiheadAttention(8, 2, batch_first=True), "in_proj_weight", "in_proj_bias")))(
            nn.MultiheadAttention(8, 2, batch_first=True)), [(2, 5, 8)]),
    ("shared_transformer_layer", lambda: Made(
        lambda m, x: m.layer(m.layer(m.layer(x))), layer=nn.TransformerEncoderLayer(8, 2, 12, batch_first=True)), [(2, 5, 8)]),
    ("shared_convolution_norms", recurrent_convolution, [C2]),
    ("shared_branch", siamese, [(2, 3, 7, 7), (2, 3, 7, 7)]),
    ("shared_head_of_scales", lambda: Made(
        lambda m, x: [m.head(y) for y in (x, F.avg_pool2d(x, 2), F.interpolate(x, scale_factor=0.5))],
        head=nn.Sequential(nn.Conv2d(4, 6, 3, padding=1), nn.GroupNorm(2, 6), nn.ReLU(), nn.Conv2d(6, 2, 1))),
     [(1, 4, 8, 8)]),
    ("shared_parameter", lambda: Made(
        lambda m, x: (x * m.w + m.w.abs()) @ torch.outer(m.w, m.w), w=weight(8)), [L]),
    ("shared_embeddings", lambda: Made(
        lambda m, a, b: (m.table(a) * m.table(b)).sum(-1), table=nn.Embedding(11, 4)), [ids(11, 2, 5), ids(11, 2, 5)]),
    ("shared_unrolled_cell", lambda: Made(
        lambda m, x, h: functools.reduce(lambda h, t: m.cell(x[t], h), range(3), h), cell=nn.GRUCell(6, 5)),
     [(3, 2, 6), (2, 5)]),
]

# Functions -----------------------------------------------------------------------------------------------------------

INTEGERS = ids(7, 3, 5) + 1


def assigned(x, y):
    """Assignments to items."""
    x = x.clone()
    x[0] = 1.0
    x[:, 1] = y[:, 0]
    x[1, 2:4] = y[2, 1:3]
    x[..., -1] *= 2
    return x


def steps(x):
    """Assignments to each item of a row."""
    out = torch.zeros(3, 8)
    for i in range(3):
        out[i, :4] = x[i, 4:] * i
        out[i, 4:] = x[i, :4]
    return out


def rotary(x):
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[1])[:, None] * torch.pow(10.0, -torch.arange(half) / half)[None]
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def attention(q, k, v):
    scores = torch.einsum("bqd,bkd->bqk", q, k) / q.shape[-1] ** 0.5
    scores = scores.masked_fill(torch.ones(q.shape[1], k.shape[1]).triu(1).bool(), -math.inf)
    return torch.einsum("bqk,bkd->bqd", scores.softmax(-1), v)


FUNCTIONS = [
    ("cdist", torch.cdist, [(4, 3), (5, 3)]), ("cdist_batch", lambda a, b: torch.cdist(a, b, p=1.0), [(2, 4, 3), (2, 5, 3)]),
    ("hypot", torch.hypot, [L, L]), ("copysign", torch.copysign, [L, L]), ("heaviside", torch.heaviside, [special(3, 8), L]),
    ("xlogy", torch.xlogy, [L, unit(3, 8)]), ("exp2", torch.exp2, [L]), ("logit", torch.logit, [unit(3, 8)]),
    ("logit_eps", lambda x: torch.logit(x, 0.1), [unit(3, 8)]), ("nan_to_num", torch.nan_to_num, [special(3, 8)]),
    ("erfc", torch.erfc, [L]), ("erfinv", torch.erfinv, [unit(3, 8)]), ("sinc", torch.sinc, [L]),
    ("gcd", torch.gcd, [INTEGERS, INTEGERS * 2]), ("lcm", torch.lcm, [INTEGERS, INTEGERS + 3]),
    ("one_hot", lambda x: F.one_hot(x, 9), [INTEGERS]),
    ("tensor_split", lambda x: torch.tensor_split(x, 3, 1), [L]),
    ("tensor_split_at", lambda x: torch.tensor_split(x, (2, -3), -1), [L]),
    ("unsafe_chunk", lambda x: torch.unsafe_chunk(x, 3, 1), [L]),
    ("chunk_uneven", lambda x: torch.chunk(x, 3, 1), [L]),
    ("split_sizes", lambda x: torch.split(x, [1, 4, 3], 1)[1:], [L]),
    ("zero_", lambda x: x + torch.empty_like(x).zero_(), [L]), ("fill_", lambda x: x * torch.empty(8).fill_(2.5), [L]),
    ("assigned", assigned, [(3, 5), (3, 5)]), ("assigned_steps", steps, [L]),
    ("meshgrid", lambda a, b: torch.meshgrid(a, b, indexing="ij"), [(3,), (4,)]),
    ("meshgrid_xy", lambda a, b: torch.meshgrid(a, b, indexing="xy"), [(3,), (4,)]),
    ("einsum", lambda a, b: torch.einsum("bij,bjk->bik", a, b), [(2, 3, 4), (2, 4, 5)]),
    ("einsum_diagonal", lambda a: torch.einsum("bii->bi", a), [(2, 3, 3)]),
    ("einsum_three", lambda a, b, c: torch.einsum("i,ij,j->", a, b, c), [(3,), (3, 4), (4,)]),
    ("bilinear", F.bilinear, [L, (3, 5), (4, 8, 5)]),
    ("embedding_bag", lambda x, w: F.embedding_bag(x, w, mode="max"), [ids(9, 3, 4), (9, 5)]),
    ("rotary", rotary, [(2, 5, 8)]), ("attention", attention, [(2, 5, 8)] * 3),
    ("scaled_dot_product", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), [(2, 2, 5, 4)] * 3),
    ("scaled_dot_product_masked",
     lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m), [(2, 2, 5, 4)] * 3 + [(5, 5)]),
    ("sort", lambda x: torch.sort(x, 1, True), [L]), ("topk", lambda x: torch.topk(x, 3), [L]),
    ("argsort", lambda x: torch.argsort(x, 1), [L]), ("gather", lambda x, i: torch.gather(x, 1, i), [L, ids(8, 3, 4)]),
    ("scatter", lambda x, i, y: torch.scatter(x, 0, i, y), [L, torch.tensor([[0, 2, 1, 0, 2, 1, 0, 1]]), (1, 8)]),
    ("scatter_add", lambda x, i, y: torch.scatter_add(x, 1, i, y), [L, ids(8, 3, 5), (3, 5)]),
    ("index_select", lambda x, i: torch.index_select(x, 1, i), [L, ids(8, 5)]),
    ("index", lambda x, i: x[:, i], [L, ids(8, 5)]), ("take_along_dim", lambda x, i: torch.take_along_dim(x, i, 1), [L, ids(8, 3, 2)]),
    ("where", lambda x, y: torch.where(x > y, x, y * 2), [L, L]),
    ("masked_fill", lambda x, y: x.masked_fill(y > 0, -1.5), [L, L]), ("cumsum", lambda x: torch.cumsum(x, 1), [L]),
    ("cumprod", lambda x: torch.cumprod(x, 1), [L]), ("logcumsumexp", lambda x: torch.logcumsumexp(x, 1), [L]),
    ("diff", lambda x: torch.diff(x, dim=1), [L]), ("roll", lambda x: torch.roll(x, (1, -3), (0, 1)), [L]),
    ("rot90", lambda x: torch.rot90(x, 1, (2, 3)), [C2]), ("flip", lambda x: torch.flip(x, (0, 2)), [C1]),
    ("tril", lambda x: torch.tril(x, 1), [L]), ("diag_embed", torch.diag_embed, [L]),
    ("kron", torch.kron, [(2, 3), (3, 2)]), ("trace", torch.trace, [L]), ("cross", lambda a, b: torch.cross(a, b, 1), [(4, 3)] * 2),
    ("var_mean", lambda x: torch.var_mean(x, 1), [L]), ("std_unbiased", lambda x: x.std(1, unbiased=False), [L]),
    ("median", lambda x: torch.median(x, 1), [L]), ("kthvalue", lambda x: torch.kthvalue(x, 2, 1), [L]),
    ("quantile", lambda x: torch.quantile(x, 0.3, 1), [L]), ("norm", lambda x: torch.norm(x, 1.0, 1), [L]),
    ("vector_norm", lambda x: torch.linalg.vector_norm(x, 3, 1), [L]), ("normalize", lambda x: F.normalize(x, dim=1), [L]),
    ("cosine_similarity", lambda a, b: F.cosine_similarity(a, b, dim=0), [L, L]),
    ("logsumexp", lambda x: torch.logsumexp(x, 1, True), [L]), ("prod", lambda x: torch.prod(x, 1), [L]),
    ("aminmax", lambda x: torch.aminmax(x, dim=1), [L]), ("count_nonzero", lambda x: torch.count_nonzero(x > 0, 1), [L]),
    ("all_any", lambda x: ((x > -1).all(1), (x > 1).any()), [L]), ("argmax", lambda x: (x.argmax(1), x.argmin()), [L]),
    ("clamp_tensor", lambda x, a, b: torch.clamp(x, a, a + b.abs()), [L, L, L]),
    ("lerp", lambda a, b: torch.lerp(a, b, 0.3), [L, L]), ("addcmul", lambda a, b, c: torch.addcmul(a, b, c, value=0.3), [L] * 3),
    ("addmm", lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2.0), [(3, 5), L, (8, 5)]),
    ("baddbmm", torch.baddbmm, [(2, 3, 5), (2, 3, 4), (2, 4, 5)]), ("matmul_ranks", torch.matmul, [(2, 1, 3, 4), (5, 4, 2)]),
    ("chain_matmul", lambda a, b, c: torch.linalg.multi_dot([a, b, c]), [(2, 3), (3, 4), (4, 5)]),
    ("tensordot", lambda a, b: torch.tensordot(a, b, 2), [(2, 3, 4), (3, 4, 5)]),
    ("floor_divide", lambda a, b: (a // b, torch.remainder(a, b), torch.fmod(a, b)), [L, L]),
    ("div_modes", lambda a, b: torch.div(a, b, rounding_mode="trunc"), [L, L]), ("frac", torch.frac, [L]),
    ("float_power", lambda x: torch.float_power(x.abs(), 1.5), [L]), ("ldexp", torch.ldexp, [L, ids(4, 3, 8)]),
    ("sgn_signbit", lambda x: (torch.sgn(x), torch.signbit(x)), [L]), ("sign_nan", torch.sign, [special(3, 8)]),
    ("isfinite", lambda x: (torch.isfinite(x), torch.isnan(x), torch.isinf(x)), [special(3, 8)]),
    ("maximum_nan", lambda x, y: (torch.maximum(x, y), torch.fmax(x, y), torch.fmin(x, y)), [special(3, 8), L]),
    ("log_family", lambda x: (x.log2(), x.log10(), x.log1p()), [unit(3, 8)]),
    ("trigonometry", lambda x: (x.asin(), x.acos(), x.atanh(), x.sinh(), x.asinh(), x.tan()), [unit(3, 8)]),
    ("atan2", torch.atan2, [L, L]), ("logaddexp", lambda a, b: (torch.logaddexp(a, b), torch.logaddexp2(a, b)), [L, L]),
    ("rad2deg", lambda x: (torch.rad2deg(x), torch.deg2rad(x)), [L]), ("round_decimals", lambda x: torch.round(x, decimals=1), [L]),
    ("lgamma", torch.lgamma, [unit(3, 8)]), ("digamma", torch.digamma, [unit(3, 8)]), ("i0", torch.i0, [L]),
    ("softmax_dtype", lambda x: F.softmax(x, 1, dtype=torch.float64), [L]),
    ("gumbel_free_glu", lambda x: F.glu(x, 0), [(4, 3)]), ("pad_modes", lambda x: (
        F.pad(x, (1, 2)), F.pad(x, (1, 1, 2, 0), value=0.3), F.pad(x, (1, 2, 0, 1), mode="reflect")), [C2]),
    ("interpolate_area", lambda x: F.interpolate(x, size=(4, 3), mode="area"), [C2]),
    ("interpolate_exact", lambda x: F.interpolate(x, scale_factor=1.5, mode="nearest-exact"), [C2]),
    ("interpolate_antialias", lambda x: F.interpolate(x, size=(4, 5), mode="bilinear", antialias=True), [C2]),
    ("grid_sample", lambda x, g: F.grid_sample(x, g.tanh(), align_corners=False), [C2, (2, 5, 4, 2)]),
    ("affine_grid", lambda t: F.affine_grid(t, (2, 3, 4, 5), align_corners=True), [(2, 2, 3)]),
    ("unfold_tensor", lambda x: x.unfold(2, 3, 2), [C1]), ("as_strided", lambda x: x.as_strided((3, 2), (1, 4)), [L]),
    ("movedim", lambda x: torch.movedim(x, (0, 1), (2, 0)), [C2]), ("swapaxes", lambda x: x.swapaxes(1, -1), [C2]),
    ("unflatten", lambda x: x.unflatten(1, (2, 4)), [L]), ("repeat_interleave", lambda x: x.repeat_interleave(2, 1), [L]),
    ("expand_tile", lambda x: (x[:, None].expand(3, 2, 8), x.tile(2, 1), x.repeat(1, 2)), [L]),
    ("stack_unbind", lambda x: torch.stack(torch.unbind(x, 0)[::-1], 1), [L]), ("hstack", lambda a, b: torch.hstack([a, b]), [L, L]),
    ("vstack", lambda a, b: torch.vstack([a, b]), [L, L]), ("dstack", lambda a, b: torch.dstack([a, b]), [L, L]),
    ("squeeze_all", lambda x: (x[:1].squeeze(), x[:, :1].squeeze(1)), [L]), ("negative_steps", lambda x: x[1:, ::3], [L]),
    ("ellipsis", lambda x: x[..., None, 1:-2, 0], [C2]), ("bucketize", lambda x, b: torch.bucketize(x, b), [L, torch.tensor([-1.0, 0.0, 0.5])]),
    ("searchsorted", lambda b, x: torch.searchsorted(b, x), [torch.tensor([-1.0, 0.0, 0.5]), L]),
    ("bits", lambda a, b: (a & b, a | b, a ^ b, ~a, a << 1, a >> 1), [INTEGERS, INTEGERS + 2]),
    ("integers", lambda a, b: (a // b, a % b, a * b - a, a / b, a.float().mean()), [INTEGERS, INTEGERS + 2]),
    ("logical", lambda a, b: (torch.logical_and(a > 0, b > 0), torch.logical_xor(a > 0, b > 0), ~(a > b)), [L, L]),
    ("casts", lambda x: (x.long(), x.int().float(), x.bool(), x.half().float(), x.double()), [L]),
    ("fft", lambda x: torch.view_as_real(torch.fft.fft(x)), [L]), ("rfft", lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2), [L]),
    ("stft", lambda x: torch.view_as_real(torch.stft(x, 8, 4, window=torch.hann_window(8), return_complex=True)), [(2, 32)]),
    ("complex_product", lambda a, b: torch.view_as_real(
        torch.view_as_complex(a.reshape(3, 4, 2)) * torch.view_as_complex(b.reshape(3, 4, 2))), [L, L]),
    ("arange_like", lambda x: x + torch.arange(8) - torch.linspace(0, 1, 8) * torch.full((8,), 2.0), [L]),
    ("new_tensors", lambda x: (x.new_zeros(3, 1) + x, torch.ones_like(x) * x, x.new_full((8,), 2.0) * x), [L]),
    ("masked_mean", lambda x, m: (x * (m > 0)).sum(1) / (m > 0).sum(1).clamp(min=1), [L, L]),
    ("drop_path_free_norm", lambda x: F.layer_norm(x, (8,), eps=1e-3) + F.rms_norm(x, (8,)), [L]),
    ("space_to_depth", lambda x: x.reshape(2, 4, 4, 2, 3, 3).permute(0, 3, 5, 1, 2, 4).reshape(2, 24, 4, 3), [(2, 4, 8, 9)]),
    ("windows", lambda x: x.view(2, 2, 4, 3, 3, 4).permute(0, 1, 3, 2, 4, 5).reshape(-1, 12, 4), [(2, 8, 9, 4)]),
    ("gram", lambda x: x.flatten(2) @ x.flatten(2).transpose(1, 2) / (8 * 9), [C2]),
    ("block_diag", lambda a, b: torch.block_diag(a, b), [(2, 3), (3, 2)]), ("polyval", lambda x: functools.reduce(lambda y, c: y * x + c, (0.5, -1, 2), x), [L]),
    ("pixel_norm", lambda x: x * torch.rsqrt(x.square().mean(1, keepdim=True) + 1e-8), [C2]),
    ("soft_argmax", lambda x: (x.flatten(2).softmax(-1) * torch.arange(72.0)).sum(-1), [C2]),
    ("histogram_free_counts", lambda x: (x[..., None] == torch.arange(8)).sum((0, 1)), [INTEGERS]),
    ("bincount", lambda x: torch.bincount(x, minlength=9), [ids(9, 12)]),
    ("vander", lambda x: torch.vander(x, 4), [(5,)]), ("cov", torch.cov, [L]), ("corrcoef", torch.corrcoef, [L]),
    ("det", torch.det, [(2, 2)]), ("inverse", torch.inverse, [(2, 2)]), ("cholesky", lambda x: torch.linalg.cholesky(x @ x.T + torch.eye(3)), [L]),
    ("renorm", lambda x: torch.renorm(x, 2, 0, 1.0), [L]), ("dist", lambda a, b: torch.dist(a, b, 2), [L, L]),
    ("celu_", lambda x: F.celu(x, 0.7) + F.selu(x) + F.elu(x, 0.5) + F.hardtanh(x) + F.softsign(x), [L]),
    ("inplace", lambda x: x.clone().mul_(2).add_(1).clamp_(-1, 2).relu_(), [L]),
    ("relu_conv_function", lambda x, w: F.relu(F.conv1d(x, w, padding="same")), [C1, (6, 4, 3)]),
    ("conv_transpose_function", lambda x, w: F.conv_transpose2d(x, w, stride=2), [C2, (4, 3, 2, 2)]),
    ("pools_function", lambda x: F.max_pool2d(x, 2) + F.avg_pool2d(x, 2) + F.lp_pool2d(x, 2, 2), [C2]),
    ("batch_norm_function", lambda x, m, v: F.batch_norm(x, m, v.abs() + 0.5), [C2, (4,), (4,)]),
]

GROUPS = {
    "torchvision": TORCHVISION,
    "timm": [(name, functools.partial(of_timm, name, settings), [(1, 3, side, side)]) for name, settings, side in TIMM_MODELS],
    "nn": PLAIN + WITH_WEIGHTS + LOSSES,
    "shared": [(name, functools.partial(shared, make), inputs * 2) for name, make, inputs in WITH_WEIGHTS],
    "tied": TIED,
    "function": [(name, functools.partial(Of, function), inputs) for name, function, inputs in FUNCTIONS],
}

#: What shows in the file of a network that pnnx wrote another network than the one that it was given, and why; only
#: where its own program cannot be run, or does not tell.
FAULTS_OF_PNNX = {
    "torchvision.swin_v2": (r"aten::zero .*\nF\.linear .*=\(12\)f32 .*=\(4,16,36\)f32",
                            "a part of the bias that is set to 0 in place stands for the whole bias"),
    "timm.mobilevitv2_050": (r"nn\.PixelShuffle .*=\(1,64,4,16\)f32 .*=\(1,64,8,8\)f32",
                             "patches that are put together are written as a pixel shuffle, whose result has another shape"),
    "function.div_modes": (r"expr=floor_divide\(@0,@1\)", "a quotient that is truncated is written as one that is rounded down"),
    "function.round_decimals": (r"expr=round\(@0\)", "the number of decimals is lost"),
    "tied.tied_convolution_and_back": (r"pnnx\.Attribute .* 1 @data.*\nnn\.ConvTranspose2d +\S+ +1 1 1 2",
                                       "the tied weight is the input, and the first convolution is lost"),
}
